"""An inventory that `unmask audit --save FILE` wrote."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from unmask.dialects.saved import LIMIT, load, looks_saved
from unmask.errors import InputError
from unmask.model.inventory import Inventory
from unmask.model.source import CollectOptions, Source

START = 200
"""Bytes at the beginning of a file that tell what it is."""


def fits(target: str) -> bool:
    """Return whether the target is a regular file that is, or by its name claims to be, JSON.

    A file that is called .json and cannot be opened is claimed too, so that reading it says why.
    """
    path = Path(target)
    if not path.is_file():
        return False
    if path.suffix == ".json":
        return True
    try:
        with path.open("rb") as stream:
            return looks_saved(stream.read(START).decode(errors="replace"))
    except OSError:
        return False


def collect(target: str, options: CollectOptions) -> Inventory:  # noqa: ARG001 - a Source's form
    """Return the inventory as it was saved, with this file as its only target.

    Raises:
        InputError: The file cannot be read, or is not a saved inventory.
    """
    try:
        with Path(target).open("rb") as stream:
            data = stream.read(LIMIT + 1)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}") from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError("not a saved inventory: it is not UTF-8 text") from error
    return replace(load(text), targets=(target,))


SOURCE = Source(
    name="saved",
    summary="inventory.json, a file that --save wrote",
    fits=fits,
    collect=collect,
    order=10,
    live=False,
)
