"""An inventory as text: the JSON that `--save` writes and that a saved target is read from.

`load(dump(inventory)) == inventory` for every inventory, and equal inventories give equal text
(`unmask.dialects.records` says how values are written). A file that was written by hand or altered
is checked whole: an unknown key, a wrong type or a subject that appears twice is an `InputError`
that names the place.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from unmask.dialects.records import WrongValueError, codec
from unmask.errors import InputError
from unmask.model.inventory import Inventory

SCHEMA = "unmask.inventory"
VERSION = 1
LIMIT = 256 * 1024 * 1024
"""Characters of text that are looked at: some 100,000 guests."""


def dump(inventory: Inventory) -> str:
    """Return the inventory as ASCII JSON text that ends with a line break."""
    body = codec(Inventory).dump(inventory)
    return json.dumps({"schema": f"{SCHEMA}/{VERSION}", **body}, indent=1) + "\n"


def load(text: str) -> Inventory:
    """Return the inventory that `dump` wrote.

    Raises:
        InputError: It is not such a text; the message names the first wrong place as a path
            like `guests[3].configured.mode`.
    """
    body = _checked_schema(_parsed(text))
    try:
        inventory: Inventory = codec(Inventory).load(body)
    except WrongValueError as error:
        raise InputError(f"not a valid saved inventory: {error}") from error
    _check_subjects(inventory)
    return inventory


def looks_saved(start: str) -> bool:
    """Return whether a text that starts like this claims to be a saved inventory."""
    words = start[:200].lstrip("\ufeff \t\r\n").split('"', 4)
    if len(words) < 4 or words[0].strip() != "{" or words[1] != "schema":
        return False
    return words[3].startswith(SCHEMA)


def _parsed(text: str) -> dict[str, Any]:
    if len(text) > LIMIT:
        raise InputError(f"a saved inventory of more than {LIMIT} characters is not read")
    try:
        value = json.loads(text, object_pairs_hook=_unique_keys)
    except RecursionError as error:
        raise InputError("not a saved inventory: the JSON is nested too deeply") from error
    except ValueError as error:
        raise InputError(f"not a saved inventory: {error}") from error
    if not isinstance(value, dict):
        raise InputError("not a saved inventory: the JSON is not an object")
    return value


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the key {twice[:80]!r} appears twice in one object")
    return value


def _checked_schema(value: dict[str, Any]) -> dict[str, Any]:
    schema = value.pop("schema", None)
    name, _, version = schema.partition("/") if isinstance(schema, str) else ("", "", "")
    if name != SCHEMA:
        raise InputError(f'not a saved inventory: "schema" is not "{SCHEMA}/{VERSION}"')
    if version != str(VERSION):
        raise InputError(
            f"this inventory has version {version[:20]!r} and this unmask reads version {VERSION}: "
            "use the unmask that wrote it, or a newer one"
        )
    return value


def _check_subjects(inventory: Inventory) -> None:
    for what in ("hosts", "guests", "clusters"):
        counts = Counter(item.subject for item in getattr(inventory, what))
        if counts and counts.most_common(1)[0][1] > 1:
            subject = counts.most_common(1)[0][0]
            raise InputError(f"not a valid saved inventory: {what}: {subject[:80]!r} appears twice")
