"""Read one of a package's data files."""

from __future__ import annotations

import json
import pkgutil
from typing import Any


def read(name: str, package: str = "unmask.cpu") -> dict[str, Any]:
    """Return the object in `data/NAME.json` of a package.

    Callers keep what they make of it in a `functools.cache`, so that a file is read once and only
    by the commands that need it. `pkgutil` also reads from a zipped package, and is much quicker
    to import than `importlib.resources`.
    """
    document: dict[str, Any] = json.loads(pkgutil.get_data(package, f"data/{name}.json") or "")
    return document
