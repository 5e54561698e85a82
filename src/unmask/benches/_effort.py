"""How much time a benchmark may take."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Effort(StrEnum):
    """The methods there are; results of different ones are not compared."""

    QUICK = "quick"
    STANDARD = "standard"
    THOROUGH = "thorough"


@dataclass(frozen=True, slots=True)
class Pace:
    """What an effort comes to."""

    rounds: int
    """Times that everything is measured, one round after the other."""
    slice: float
    """Seconds that one run measures."""
    budget: int
    """Seconds after which no round begins that would not end within them."""


PACES = {
    Effort.QUICK: Pace(3, 0.3, 14),
    Effort.STANDARD: Pace(5, 0.5, 60),
    Effort.THOROUGH: Pace(9, 1.0, 240),
}
