"""What `unmask doctor` has looked at, and what it has found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """How a thing is."""

    OK = "ok"
    NOTE = "note"
    """It works, or is not needed; worth knowing all the same."""
    PROBLEM = "problem"
    """Something that somebody wants will not work."""


@dataclass(frozen=True, slots=True)
class Remark:
    """What was found of one thing."""

    status: Status
    subject: str
    """What was looked at: "python", "paramiko", "pve://pve1:8006"."""
    what: str
    """What was found, in a sentence without a full stop."""
    todo: str = ""
    """What to do about it; "" where nothing is to be done."""


@dataclass(frozen=True, slots=True)
class Checkup:
    """All that was looked at."""

    version: str
    """Of unmask."""
    areas: tuple[tuple[str, tuple[Remark, ...]], ...]
    """Each place that was looked at with its remarks, in the order in which they are shown."""

    def count(self, status: Status) -> int:
        """Return how many remarks have this status."""
        return sum(item.status is status for _, found in self.areas for item in found)
