"""Sends a recorded request to a lab and compares what comes back with what was recorded."""

import dataclasses
import http.client
import json
import re
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, unquote

from support.recorded_site import PASSWORDS, SECRET
from support.recordings import Recording
from unmask.lab.lab import Lab

REDACTED = {
    9: "PVEAPIToken=root@pam!full=not-the-secret",
    702: "Bearer <secret>",
    703: "PVEAPIToken root@pam!full=<secret>",
}
"""Headers whose point the recording left out."""

WRONG_CSRF = 701
TICKET = re.compile(r"password=PVE%3A[^&]*")
"""A ticket in place of a password, which renews it."""

VOLATILE = frozenset(
    [
        "CSRFPreventionToken",
        "avail",
        "cap",
        "cgroup-mode",
        "content",
        "cpu",
        "cpuinfo",
        "current-kernel",
        "data-digest",
        "digest",
        "disk",
        "endtime",
        "free",
        "idle",
        "ksm",
        "kversion",
        "loadavg",
        "localtime",
        "maxdisk",
        "mem",
        "memhost",
        "memory",
        "pid",
        "pstart",
        "repoid",
        "rootfs",
        "snaptime",
        "ssl_fingerprint",
        "starttime",
        "swap",
        "ticket",
        "time",
        "total",
        "upid",
        "uptime",
        "used",
        "used_fraction",
        "vmgenid",
        "version",
        "wait",
        "boot-info",
        "bytes-read",
        "description",
    ]
)
"""Keys whose values are times, ids, measurements, or differ for a reason; types still count."""

IDENTITY = ("vmid", "id", "key", "name", "userid", "roleid", "subdir", "sid", "realm", "tokenid")
UPID = re.compile(r"UPID:[^\"/]+?:[0-9A-F]{8}:[0-9A-F]{8}:[0-9A-F]{8}:[^:]*:[^:]*:[^:]*:")
DIGEST = re.compile(r"[0-9a-f]{40}")
NUMBERED = re.compile(r"\.tmp\.[0-9]+|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d|\(duration [0-9:]+\)")
"""Parts of texts that are times or ids."""


@dataclass(slots=True)
class Response:
    """What came back."""

    status: int
    reason: str
    typed: bool
    json: Any


@dataclass(slots=True)
class Exchange:
    """Replays recordings and remembers which of our ids stand for which recorded ones."""

    lab: Lab
    ours: dict[str, str] = field(default_factory=dict)
    """Our digest, UPID or process id by the recorded one."""

    def send(self, record: Recording) -> Response:
        """Send a recorded request."""
        address, port = self.lab.address.split(":")
        context = ssl.create_default_context(cafile=self.lab.ca_file)
        client = http.client.HTTPSConnection(address, int(port), context=context, timeout=20)
        body = self.translated(record.body) if record.body else None
        path = self.translated(record.path)
        client.request(record.method, path, body=body, headers=dict(self._headers(record)))
        answer = client.getresponse()
        text = answer.read()
        client.close()
        typed = answer.getheader("Content-Type") is not None
        return Response(answer.status, answer.reason, typed, json.loads(text) if text else None)

    def translated(self, text: str) -> str:
        """Return a path or body with our ids in place of the recorded ones."""
        if TICKET.search(text):
            accounts = self.lab.cluster.accounts()
            ticket = self.lab.sessions.login(accounts, "root@pam", PASSWORDS["root@pam"])
            text = TICKET.sub(f"password={quote(ticket, safe='')}", text)
        text = DIGEST.sub(lambda match: self.ours.get(match[0], match[0]), text)
        plain = unquote(text)
        for upid in UPID.findall(plain):
            text = text.replace(quote(upid, safe=""), quote(self.ours.get(upid, upid), safe=""))
        return re.sub(r"(?<![a-z])pid=([0-9]+)", lambda m: f"pid={self.ours.get(m[1], m[1])}", text)

    def _headers(self, record: Recording) -> Iterator[tuple[str, str]]:
        for name, value in record.headers.items():
            if name == "Authorization":
                yield name, REDACTED.get(record.number, value).replace("<secret>", SECRET)
            elif name not in ("Cookie", "CSRFPreventionToken"):
                yield name, value
        user = record.who.removesuffix(" ticket")
        if "Cookie" in record.headers and user == record.who:
            yield "Cookie", "PVEAuthCookie=PVE:root@pam:00000000::nonsense"
        elif "Cookie" in record.headers:
            ticket = self.lab.sessions.login(self.lab.cluster.accounts(), user, PASSWORDS[user])
            yield "Cookie", f"PVEAuthCookie={quote(ticket)}"
            if "CSRFPreventionToken" in record.headers:
                good = self.lab.sessions.csrf_token(user)
                yield "CSRFPreventionToken", "wrong" if record.number == WRONG_CSRF else good

    def differences(self, record: Recording, response: Response) -> list[str]:
        """Return what is not as it was recorded, and learn which of our ids stand for which."""
        found = []
        if response.status != record.status:
            found.append(f"status {response.status} in place of {record.status}")
        reasons = [NUMBERED.sub("N", reason) for reason in (response.reason, record.reason)]
        if reasons[0] != reasons[1]:
            found.append(f"reason {response.reason!r} in place of {record.reason!r}")
        if response.typed != record.typed:
            found.append("content type")
        return found + list(self._compared("", record.json, response.json))

    def shapes(self, record: Recording, response: Response) -> list[str]:
        """Return what is not as it was recorded where the members of lists do not count.

        Each member must have the keys and types of one that was recorded.
        """
        found = self.differences(dataclasses.replace(record, json=None), response)
        known = {_shape(item) for item in _members(record.json)}
        strange = {_shape(item) for item in _members(response.json)} - known
        return [line for line in found if not line.startswith(":")] + sorted(strange)

    def _compared(self, where: str, recorded: Any, ours: Any) -> Iterator[str]:
        if isinstance(recorded, str) and isinstance(ours, str) and _is_id(recorded):
            self.ours[recorded] = ours
            yield from () if _is_id(ours) else (f"{where}: {ours!r} is no such id",)
            return
        if where.endswith("data.pid") and isinstance(ours, int):
            self.ours[str(recorded)] = str(ours)
        if isinstance(recorded, dict) and isinstance(ours, dict):
            yield from self._dicts(where, recorded, ours)
        elif isinstance(recorded, list) and isinstance(ours, list):
            yield from self._lists(where, recorded, ours)
        elif not _alike(where, recorded, ours):
            yield f"{where}: {str(ours)[:100]!r} in place of {str(recorded)[:100]!r}"

    def _dicts(
        self, where: str, recorded: Mapping[str, Any], ours: Mapping[str, Any]
    ) -> Iterator[str]:
        for key in sorted(recorded.keys() ^ ours.keys()):
            yield f"{where}.{key} is {'missing' if key in recorded else 'too much'}"
        for key in sorted(recorded.keys() & ours.keys()):
            yield from self._compared(f"{where}.{key}", recorded[key], ours[key])

    def _lists(self, where: str, recorded: list[Any], ours: list[Any]) -> Iterator[str]:
        key = _identity(recorded)
        if key is None:
            if _sorted(recorded) and _sorted(ours):
                recorded, ours = sorted(recorded, key=_order), sorted(ours, key=_order)
            if len(recorded) != len(ours):
                yield f"{where}: {len(ours)} items in place of {len(recorded)}"
            for index, (one, other) in enumerate(zip(recorded, ours, strict=False)):
                yield from self._compared(f"{where}[{index}]", one, other)
            return
        by_key = {str(item[key]): item for item in ours if isinstance(item, dict) and key in item}
        for item in recorded:
            name = str(item[key])
            if name in by_key:
                yield from self._compared(f"{where}[{name}]", item, by_key.pop(name))
            else:
                yield f"{where}[{name}] is missing"
        yield from (f"{where}[{name}] is too much" for name in by_key)


def _is_id(text: str) -> bool:
    return bool(UPID.fullmatch(text) or DIGEST.fullmatch(text))


def _members(body: Any) -> list[Any]:
    """Return the items of an answer's list, or its one value."""
    data = body["data"]
    return data if isinstance(data, list) else [data]


def _shape(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_shape(value[key])}" for key in sorted(value))
    return type(value).__name__


def _identity(items: list[Any]) -> str | None:
    for key in IDENTITY:
        values = [item.get(key) if isinstance(item, dict) else None for item in items]
        if values and None not in values and len({str(value) for value in values}) == len(values):
            return key
    return None


def _order(item: Any) -> str:
    return json.dumps(item, sort_keys=True)


def _sorted(items: list[Any]) -> bool:
    return all(not isinstance(item, dict) for item in items) or all(
        isinstance(item, dict) and "path" in item for item in items
    )


def _alike(where: str, recorded: Any, ours: Any) -> bool:
    """Return whether two leaves are the same, or of the same type where values do not count."""
    last = re.split(r"[.\[\]]", where.rstrip("]"))[-1]
    key = next(
        (part for part in reversed(re.split(r"[.\[\]]+", where)) if not part.isdigit()), last
    )
    if key in VOLATILE or any(
        f".{name}" in where for name in ("cpuinfo", "loadavg", "memory", "rootfs")
    ):
        numbers = (int, float)
        return type(recorded) is type(ours) or (
            isinstance(recorded, numbers) and isinstance(ours, numbers)
        )
    if isinstance(recorded, str) and isinstance(ours, str):
        return NUMBERED.sub("", recorded) == NUMBERED.sub("", ours)
    return type(recorded) is type(ours) and bool(recorded == ours)
