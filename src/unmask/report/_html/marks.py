"""What a cell of a flag matrix says, in a word."""

from __future__ import annotations

from unmask.cpu.features import MITIGATION_FLAGS, reported
from unmask.model.cpu import FeatureView, State
from unmask.report._cells import WORDS

YES, NO, UNKNOWN = WORDS[State.SHOWN], WORDS[State.HIDDEN], WORDS[State.UNKNOWN]


def of_view(view: FeatureView, flags: tuple[str, ...]) -> tuple[str, ...]:
    """Return "yes", "no", "host" or "?" for each flag."""
    return tuple(WORDS[view.state(flag)] for flag in flags)


def split(arch: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the reported flags of an architecture: those that work uses, and the defences."""
    flags = reported(arch)
    work = tuple(flag for flag in flags if flag not in MITIGATION_FLAGS)
    return work, tuple(flag for flag in flags if flag in MITIGATION_FLAGS)
