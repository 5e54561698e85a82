"""The project's own cases for the lab: steps with what they must answer, in fixtures/lab."""

import http.client
import json
import re
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from unmask.lab.lab import Lab

FOLDER = Path(__file__).parents[2] / "fixtures" / "lab"
TYPES: Mapping[str, tuple[type, ...]] = {
    "<int>": (int,),
    "<list>": (list,),
    "<number>": (int, float),
    "<str>": (str,),
}
PATTERNS = {
    "<digest>": re.compile(r"[0-9a-f]{40}"),
    "<upid>": re.compile(r"UPID:[a-z0-9]+:[0-9A-F]{8}:[0-9A-F]{8}:[0-9A-F]{8}:\w+:\d*:[^:]+:"),
}


def ask(lab: Lab, name: str, written: str, given: Any = None) -> tuple[int, str, Any]:
    """Ask `lab` for "METHOD /path" with a token and return status, reason phrase and body."""
    method, path = written.split(" ", 1)
    address, port = lab.address.split(":")
    context = ssl.create_default_context(cafile=lab.ca_file)
    client = http.client.HTTPSConnection(address, int(port), context=context, timeout=10)
    headers = dict(lab.header(name)) if name else {}
    target, body = f"/api2/json{quote(path)}", None
    if given and method in ("GET", "DELETE"):
        target += f"?{urlencode(given)}"
    elif given:
        body = json.dumps(given)
        headers["Content-Type"] = "application/json"
    try:
        client.request(method, target, body=body, headers=headers)
        answer = client.getresponse()
        text = answer.read()
    finally:
        client.close()
    return answer.status, answer.reason, json.loads(text) if text else None


def filled(value: Any, kept: Mapping[str, Any]) -> Any:
    """Return a value of a case with what was kept in place of names in braces."""
    if isinstance(value, str):
        whole = re.fullmatch(r"\{(\w+)\}", value)
        if whole:
            return kept[whole[1]]
        return re.sub(r"\{(\w+)\}", lambda match: str(kept[match[1]]), value)
    if isinstance(value, dict):
        return {key: filled(item, kept) for key, item in value.items()}
    return [filled(item, kept) for item in value] if isinstance(value, list) else value


def fits(wanted: Any, found: Any) -> bool:
    """Return whether an answer is what a case wants."""
    if isinstance(wanted, str) and wanted in TYPES:
        return type(found) in TYPES[wanted]
    if isinstance(wanted, str) and wanted in PATTERNS:
        return isinstance(found, str) and bool(PATTERNS[wanted].fullmatch(found))
    if isinstance(wanted, dict):
        rest = {key: value for key, value in wanted.items() if key != "..."}
        if not isinstance(found, dict) or not rest.keys() <= found.keys():
            return False
        exact = "..." in wanted or rest.keys() == found.keys()
        return exact and all(fits(value, found[key]) for key, value in rest.items())
    if isinstance(wanted, list) and wanted[:1] == ["has"]:
        return any(fits(wanted[1], item) for item in found)
    if isinstance(wanted, list) and wanted[:1] == ["each"]:
        return bool(found) and all(fits(wanted[1], item) for item in found)
    if isinstance(wanted, list) and isinstance(found, list):
        return len(wanted) == len(found) and all(map(fits, wanted, found))
    return type(wanted) is type(found) and bool(wanted == found)
