"""Which flags the guests see, now and after a restart: one line for guests that see the same."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from unmask.model.case import GuestCase
from unmask.model.cpu import State
from unmask.model.report import Document
from unmask.report import _cells
from unmask.report._html import marks
from unmask.report._html.labels import Labels, Refs
from unmask.report._text import clean

OPEN = (State.HOST, State.UNKNOWN)


@dataclass(frozen=True, slots=True)
class FlagRow:
    """Guests that see the same flags of a CPU of the same name."""

    label: str
    guests: Refs
    level: str
    now: tuple[str, ...]
    later: tuple[str, ...]
    """After a stop and start; none where nothing is pending."""
    later_label: str


@dataclass(frozen=True, slots=True)
class FlagMatrix:
    """All guests of one architecture."""

    arch: str
    flags: tuple[str, ...]
    defences: int
    """How many of the flags, at the end, are mitigation flags."""
    rows: tuple[FlagRow, ...]

    @property
    def pairs(self) -> tuple[tuple[str, bool], ...]:
        """Return each flag; in what guests see no difference is worth a mark."""
        return tuple((flag, False) for flag in self.flags)


def build(document: Document, labels: Labels) -> tuple[FlagMatrix, ...]:
    """Return a matrix for each architecture that has flags worth showing, most guests first."""
    found: dict[str, dict[Hashable, list[GuestCase]]] = {}
    for case in document.cases:
        found.setdefault(case.view.arch, {}).setdefault(_likeness(case), []).append(case)
    matrices = []
    for arch, groups in found.items():
        work, defences = marks.split(arch)
        if work:
            rows = [_row(cases, (*work, *defences), labels) for cases in groups.values()]
            rows.sort(key=lambda row: (row.label, -row.guests.count))
            matrices.append(FlagMatrix(arch, (*work, *defences), len(defences), tuple(rows)))
    return tuple(matrices)


def _likeness(case: GuestCase) -> Hashable:
    flags = marks.split(case.view.arch)
    every = (*flags[0], *flags[1])
    later = marks.of_view(case.pending, every) if case.pending else ()
    return case.view.label, _cells.level(case), _now(case, every), later


def _row(cases: list[GuestCase], flags: tuple[str, ...], labels: Labels) -> FlagRow:
    first = cases[0]
    return FlagRow(
        clean(first.view.label, _cells.NAME) or "?",
        labels.all(case.guest.subject for case in cases),
        _cells.level(first),
        _now(first, flags),
        marks.of_view(first.pending, flags) if first.pending else (),
        clean(first.pending.label, _cells.NAME) if first.pending else "",
    )


def _now(case: GuestCase, flags: tuple[str, ...]) -> tuple[str, ...]:
    """Return what the guest sees; what it tells itself settles what would be open otherwise."""
    return tuple(_cells.WORDS[_state(case, flag)] for flag in flags)


def _state(case: GuestCase, flag: str) -> State:
    state = case.view.state(flag)
    return case.observed.state(flag) if case.observed and state in OPEN else state
