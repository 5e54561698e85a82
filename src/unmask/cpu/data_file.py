"""Read one of the package's data files."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any


def read(name: str) -> dict[str, Any]:
    """Return the object in `data/NAME.json`.

    Callers keep what they make of it in a `functools.cache`, so that a file is read once and only
    by the commands that need it.
    """
    path = resources.files("unmask.cpu").joinpath("data", f"{name}.json")
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return document
