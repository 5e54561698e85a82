"""Which flags the guests see, now and after a restart: one line for guests that see the same."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from unmask.model.case import GuestCase
from unmask.model.report import Document
from unmask.report import _cells
from unmask.report._html import marks
from unmask.report._html.labels import Labels, Refs
from unmask.report._text import clean


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
    """All guests of one architecture, and one kind of flags."""

    arch: str
    defences: bool
    """Whether the flags are those of mitigations; else they are instructions that work uses."""
    flags: tuple[str, ...]
    rows: tuple[FlagRow, ...]


def build(document: Document, labels: Labels) -> tuple[FlagMatrix, ...]:
    """Return the matrices of each architecture that has flags worth showing."""
    by_arch: dict[str, list[GuestCase]] = {}
    for case in document.cases:
        by_arch.setdefault(case.view.arch, []).append(case)
    return tuple(
        FlagMatrix(arch, defences, flags, _rows(cases, flags, labels))
        for arch, cases in by_arch.items()
        for defences, flags in _kinds(arch)
    )


def _kinds(arch: str) -> Iterator[tuple[bool, tuple[str, ...]]]:
    """Yield the flags of an architecture by whether they are of mitigations, where it has any."""
    work, defences = marks.split(arch)
    if work:
        yield False, work
    if defences:
        yield True, defences


def _rows(
    cases: Sequence[GuestCase], flags: tuple[str, ...], labels: Labels
) -> tuple[FlagRow, ...]:
    """Return a row for all guests that see the same, in order of their CPUs' names."""
    alike: dict[Hashable, list[GuestCase]] = {}
    for case in cases:
        later = marks.of_view(case.pending, flags) if case.pending else ()
        likeness = (case.view.label, _cells.level(case), _now(case, flags), later)
        alike.setdefault(likeness, []).append(case)
    rows = [_row(same, flags, labels) for same in alike.values()]
    return tuple(sorted(rows, key=lambda row: (row.label, -row.guests.count)))


def _row(cases: Sequence[GuestCase], flags: tuple[str, ...], labels: Labels) -> FlagRow:
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
    return tuple(_cells.WORDS[_cells.seen(case, flag)] for flag in flags)
