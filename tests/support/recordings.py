"""The recorded requests and answers of a real cluster, where they are present."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[3] / "shared" / "pve-api" / "recorded"


@dataclass(frozen=True, slots=True)
class Recording:
    """One recorded request with its answer."""

    number: int
    who: str
    note: str
    method: str
    path: str
    headers: Mapping[str, str]
    params: Any
    body: str
    status: int
    reason: str
    json: Any
    """None where the answer has no JSON body."""
    typed: bool
    """The answer has a content type."""


@cache
def recordings() -> Mapping[int, Recording]:
    """Return all of them, by number, in the order in which they were made."""
    found = {}
    for path in sorted(FOLDER.glob("[0-9]*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        asked, said = record["request"], record["response"]
        number = int(path.name[:3])
        found[number] = Recording(
            number=number,
            who=record["who"],
            note=record["note"],
            method=asked["method"],
            path=asked["path"],
            headers=asked.get("headers") or {},
            params=asked.get("params"),
            body=asked.get("body") or "",
            status=said["status"],
            reason=said["reason"],
            json=said.get("json"),
            typed="Content-Type" in said["headers"],
        )
    return found


def data(number: int) -> Any:
    """Return the data of a recorded answer."""
    return recordings()[number].json["data"]


def need_recordings() -> None:
    """Skip where the recordings are not there."""
    if not FOLDER.is_dir():
        pytest.skip("the recordings of the real cluster are not here")
