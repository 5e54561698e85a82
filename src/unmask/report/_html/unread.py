"""What the report is not sure of: gaps, skipped checks, remarks, and what was accepted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from unmask.model.report import Document
from unmask.report import _unread
from unmask.report._html.labels import Labels, Refs, sentence
from unmask.report._text import clean

REASONS = 400
"""Different entries of a part that are shown."""


@dataclass(frozen=True, slots=True)
class Entry:
    """The same said of one or several subjects."""

    subjects: Refs
    text: str
    needs: str = ""
    codes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """One kind of not being sure."""

    title: str
    meaning: str
    entries: tuple[Entry, ...]
    more: int


def build(document: Document, labels: Labels) -> tuple[Part, ...]:
    """Return the parts that have something to say."""
    parts = (
        ("Could not be read", "All above was judged without it.", _gaps(document, labels)),
        (
            "Not seen in full inside guests",
            "Somebody was inside, and these of its readings are missing or incomplete.",
            _inside(document, labels),
        ),
        (
            "Could not be checked",
            "These rules were not judged for these subjects: that is not the same as passed.",
            _skips(document, labels),
        ),
        (
            "Noticed in the configuration",
            "Of this no rule makes a finding.",
            _remarks(document, labels),
        ),
        (
            "Accepted",
            "Found, and accepted by the operator; not counted above.",
            _accepted(document, labels),
        ),
    )
    return tuple(
        Part(title, meaning, tuple(entries[:REASONS]), max(0, len(entries) - REASONS))
        for title, meaning, entries in parts
        if entries
    )


def _gaps(document: Document, labels: Labels) -> list[Entry]:
    return [
        _entry(labels, [gap.subject for gap in same], reason, needs)
        for (reason, needs), same in _unread.gaps_alike(document.inventory.gaps).items()
    ]


def _inside(document: Document, labels: Labels) -> list[Entry]:
    entries = []
    for (reason, needs), probes in _unread.lacking(document.inventory.guests).items():
        subjects = sorted(set[str]().union(*probes.values()))
        what = ", ".join(probe.replace("_", " ") for probe in sorted(probes))
        text = f"{what}: {reason}" if reason else f"more of {what}"
        entries.append(_entry(labels, subjects, text, needs))
    return entries


def _skips(document: Document, labels: Labels) -> list[Entry]:
    grouped: dict[tuple[str, str], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for skip in document.outcome.skips:
        grouped[skip.reason, skip.needs][skip.subject].append(skip.code)
    entries = []
    for (reason, needs), subjects in sorted(grouped.items()):
        codes = sorted({code for some in subjects.values() for code in some})
        entries.append(_entry(labels, subjects, reason, needs, codes))
    return entries


def _remarks(document: Document, labels: Labels) -> list[Entry]:
    return [
        _entry(labels, subjects, text)
        for text, subjects in _unread.remarked(document.inventory.guests).items()
    ]


def _accepted(document: Document, labels: Labels) -> list[Entry]:
    entries = []
    for item in document.outcome.accepted:
        until = f" (until {item.expires})" if item.expires else ""
        text = f"{item.finding.problem.message}. Accepted: {item.reason}{until}"
        entries.append(_entry(labels, [item.finding.subject], text, codes=[item.finding.code]))
    return entries


def _entry(
    labels: Labels,
    subjects: Iterable[str],
    text: str,
    needs: str = "",
    codes: Iterable[str] = (),
) -> Entry:
    return Entry(
        labels.all(subjects),
        sentence(text),
        sentence(needs),
        tuple(clean(code, 20) for code in codes),
    )
