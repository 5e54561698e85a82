"""A JSON document among what a program printed: hostile, so every step down may miss."""

from __future__ import annotations

import json
from typing import Any


def document(text: str) -> dict[str, Any] | None:
    """Return the JSON object that begins at the first line with "{"; None for none or a broken one.

    Warnings before it and other output behind it are passed over.
    """
    start = text.find("{")
    if start < 0:
        return None
    try:
        value, _ = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def below(value: object, *names: str) -> object:
    """Return what stands at the end of `names`; None where a step is missing."""
    for name in names:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def items(value: object) -> list[object]:
    """Return a list's items; none for anything else."""
    return list(value) if isinstance(value, list) else []


def figure(value: object) -> float | None:
    """Return a number as a float, infinite where it is too large; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return float("inf")
