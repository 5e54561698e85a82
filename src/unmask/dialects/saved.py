"""An inventory as text: the JSON that `--save` writes and that a saved target is read from.

`load(dump(inventory)) == inventory` for every inventory, and equal inventories give equal text
(`unmask.dialects.records` says how values are written). A file that was written by hand or altered
is checked whole: an unknown key, a wrong type or a subject that appears twice is an `InputError`
that names the place.
"""

from __future__ import annotations

from collections import Counter

from unmask.dialects import saved_text
from unmask.dialects.records import WrongValueError, codec
from unmask.dialects.saved_text import Form
from unmask.errors import InputError
from unmask.model.inventory import Inventory

SCHEMA = "unmask.inventory"
VERSION = 1
LIMIT = 256 * 1024 * 1024
"""Characters of text that are looked at: some 100,000 guests."""
FORM = Form(
    schema=SCHEMA,
    version=VERSION,
    limit=LIMIT,
    what="a saved inventory",
    no="not a saved inventory",
    has="this inventory has",
    it="it",
)


def dump(inventory: Inventory) -> str:
    """Return the inventory as ASCII JSON text that ends with a line break."""
    body = codec(Inventory).dump(inventory)
    return saved_text.dump(FORM, body)


def load(text: str) -> Inventory:
    """Return the inventory that `dump` wrote.

    Raises:
        InputError: It is not such a text; the message names the first wrong place as a path
            like `guests[3].configured.mode`.
    """
    body = saved_text.load(FORM, text)
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


def _check_subjects(inventory: Inventory) -> None:
    for what in ("hosts", "guests", "clusters"):
        counts = Counter(item.subject for item in getattr(inventory, what))
        if counts and counts.most_common(1)[0][1] > 1:
            subject = counts.most_common(1)[0][0]
            raise InputError(f"not a valid saved inventory: {what}: {subject[:80]!r} appears twice")
