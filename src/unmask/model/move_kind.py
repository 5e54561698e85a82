"""How a guest is moved."""

from __future__ import annotations

from enum import StrEnum


class MoveKind(StrEnum):
    """How a guest is moved."""

    LIVE = "live"
    """While it runs: it keeps the CPU that it was started with."""
    COLD = "cold"
    """Stopped here and started there, with the CPU of its next start."""


LIVE, COLD = MoveKind.LIVE, MoveKind.COLD
BOTH = (LIVE, COLD)
