"""What encrypted workloads keep of their speed, by general figures: bars, the worst first."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from unmask.crypto.consumers import consumers
from unmask.crypto.sentence import percent
from unmask.model.case import GuestCase
from unmask.model.report import Document
from unmask.model.workload import JudgedWorkload
from unmask.report._html.labels import Labels, Refs, sentence
from unmask.report._html.loads import WORK
from unmask.report._text import clean

MOST = 60
"""Bars; what is slower comes first."""


@dataclass(frozen=True, slots=True)
class Bar:
    """Workloads of one kind that lack the same flags."""

    label: str
    """"ZFS encryption, aes-256-gcm"."""
    software: str
    """"OpenZFS native encryption"."""
    guests: Refs
    status: str
    missing: str
    kept: float
    """Per cent of the speed with the missing flags: the bar's width."""
    text: str
    """"0.6 %"."""
    of_best: str
    """The same against all that the silicon of the measurement has; "" where it says no more."""
    note: int
    """Which of the notes says where the figure comes from; 0 for none."""
    here: bool
    """It was measured on the guests' own node."""


@dataclass(frozen=True, slots=True)
class Throughput:
    """All bars and where their figures come from."""

    bars: tuple[Bar, ...]
    notes: tuple[str, ...]
    more: int
    """Bars that are left out."""


def build(document: Document, labels: Labels) -> Throughput:
    """Return a bar for each different workload whose factor is known."""
    groups: dict[Hashable, list[tuple[GuestCase, JudgedWorkload]]] = {}
    for case in document.cases:
        for item in case.workloads:
            if item.outlook and item.outlook.factor is not None:
                groups.setdefault(_likeness(item), []).append((case, item))
    order = sorted(groups.values(), key=lambda group: (_factor(group[0][1]), _order(group[0][1])))
    notes: dict[str, int] = {}
    bars = tuple(_bars(order[:MOST], labels, notes))
    return Throughput(bars, tuple(notes), max(0, len(order) - MOST))


def _bars(
    order: list[list[tuple[GuestCase, JudgedWorkload]]], labels: Labels, notes: dict[str, int]
) -> Iterator[Bar]:
    for group in order:
        item = group[0][1]
        outlook, factor = item.outlook, _factor(item)
        if outlook is None:
            continue
        cipher = clean(item.workload.cipher or outlook.cipher, 60)
        consumer = consumers().get(item.workload.consumer)
        origin = sentence(outlook.factor_origin)
        best = percent(outlook.of_best) if outlook.of_best is not None else ""
        text = percent(factor)
        yield Bar(
            f"{WORK[item.workload.kind]}{', ' if cipher else ''}{cipher}",
            consumer.name if consumer else "",
            labels.all(case.guest.subject for case, _ in group),
            item.status,
            ", ".join(outlook.missing),
            round(min(100.0, 100 * factor), 2),
            text,
            best if best != text else "",
            notes.setdefault(origin, len(notes) + 1) if origin else 0,
            outlook.measured_here,
        )


def _likeness(item: JudgedWorkload) -> Hashable:
    found, outlook = item.workload, item.outlook
    if outlook is None:
        return ()
    cipher = found.cipher or outlook.cipher
    return (found.kind, found.consumer, cipher, item.status, outlook.missing, outlook.factor,
            outlook.of_best, outlook.factor_origin)  # fmt: skip


def _factor(item: JudgedWorkload) -> float:
    factor = item.outlook.factor if item.outlook else None
    return 1.0 if factor is None else factor


def _order(item: JudgedWorkload) -> tuple[str, str, str]:
    return item.workload.kind, item.workload.consumer, item.workload.cipher
