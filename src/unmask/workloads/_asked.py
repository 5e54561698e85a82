"""What a visit has read of a guest: with a default, with what it owes, and in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from unmask.model.inside import UNASKED, Inside, System
from unmask.model.inventory import Guest
from unmask.model.reading import Known, Reading

T = TypeVar("T")
MOST = 12
"""Things that one sentence names."""
FACTS = 24
"""Sentences of evidence that one workload has."""


def entered(guest: Guest) -> Inside | None:
    """Return what was read inside; None where nobody got in."""
    return guest.visit.inside.value if guest.visit.inside.known else None


def said(reading: Reading[T], otherwise: T) -> T:
    """Return what was read, or `otherwise` where it could not be."""
    return reading.value if isinstance(reading, Known) else otherwise


def owed(*readings: Reading[Any]) -> None:
    """Raise `UnreadError` for the first reading that was asked for and could not be made.

    What no probe asks for on the guest's system (Windows has few) is not owed.
    """
    for reading in readings:
        if not reading.known and reading != UNASKED:
            _ = reading.value


def system(inside: Inside) -> System:
    """Return the guest's system; one without any name where that was not read."""
    return said(inside.system, System(""))


def shortfalls(inside: Inside, *probes: str) -> Iterator[str]:
    """Yield a sentence for each of these probes whose reading may be less than there is."""
    for partial in inside.partial:
        if partial.probe in probes:
            needs = f" (needs {partial.needs})" if partial.needs else ""
            yield f"Not all was seen: {partial.reason}{needs}."


def listed(words: Iterable[object], joint: str = "and") -> str:
    """Return "a", "a and b", "a, b and c"; of many, the first ones and how many more there are."""
    named = [str(word) for word in words]
    if len(named) > MOST:
        named = [*named[: MOST - 1], f"{len(named) - MOST + 1} more"]
    *most, last = named or [""]
    return f"{', '.join(most)} {joint} {last}" if most else last


def facts(sentences: Iterable[str]) -> tuple[str, ...]:
    """Return the distinct sentences; of very many the first ones, and how many more there are."""
    found = tuple(dict.fromkeys(sentences))
    if len(found) <= FACTS:
        return found
    return (*found[: FACTS - 1], f"There are {len(found) - FACTS + 1} more facts like these.")
