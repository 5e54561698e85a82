"""The last check on what a parser returns: lengths, numbers of items, no control characters."""

from __future__ import annotations

import dataclasses
from enum import Enum
from typing import Any

from unmask.dialects.excerpt import excerpt
from unmask.probes._section import printable

TEXT_LIMIT = 1000
"""Characters of one text."""
COUNT_LIMIT = 5000
"""Items of one tuple."""


def bounded(value: Any) -> Any:
    """Return `value` with every text one printable line and every tuple of a bounded length.

    Takes what the model is made of: dataclasses, tuples, frozensets, texts, numbers, None.
    """
    if isinstance(value, Enum) or value is None or isinstance(value, int):
        return value
    if isinstance(value, str):
        return excerpt(" ".join(printable(value).split()), TEXT_LIMIT)
    if isinstance(value, tuple):
        return tuple(bounded(item) for item in value[:COUNT_LIMIT])
    if isinstance(value, frozenset):
        return frozenset(bounded(item) for item in sorted(value)[:COUNT_LIMIT])
    names = [field.name for field in dataclasses.fields(value)]
    return type(value)(**{name: bounded(getattr(value, name)) for name in names})
