"""What a comparison says, in the parts and sentences that its table and its Markdown share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from unmask.model.difference import (
    Audit,
    Change,
    CpuChange,
    Difference,
    FindingChange,
    Passage,
    Passing,
)
from unmask.model.finding import Severity, Skip
from unmask.model.inventory import Gap
from unmask.report._text import called, clean, reasoned

MOST = 40
"""Lines of one part; of more, the first ones. The JSON report has all."""
NAME = 120
SHOWN = (
    Change.NEW, Change.SEEN, Change.REOPENED, Change.CHANGED, Change.UNCHECKED, Change.GONE,
    Change.ACCEPTED,
)  # fmt: skip
TITLES = {
    Change.NEW: "New findings",
    Change.SEEN: "Findings that the older audit could not have told",
    Change.REOPENED: "Findings that are no longer accepted",
    Change.CHANGED: "Findings that changed",
    Change.UNCHECKED: "No longer checked: these findings may be there still",
    Change.GONE: "Gone findings",
    Change.ACCEPTED: "Findings that are accepted now",
    Change.UNCHANGED: "Unchanged findings",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One line: a word or two, the subjects that it holds for, and a sentence."""

    head: str
    subjects: tuple[str, ...]
    said: str
    severity: Severity | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """Lines with a title."""

    title: str
    entries: tuple[Entry, ...]
    more: int = 0
    """Lines that are left out."""


def parts(difference: Difference, *, every: bool) -> tuple[Part, ...]:
    """Return all that there is to say; with `every` also the unchanged findings."""
    shown = (*SHOWN, Change.UNCHANGED) if every else SHOWN
    found = [(TITLES[change], _findings(difference.findings, change)) for change in shown]
    came, filled = difference.gaps
    lost, made = difference.skips
    found += [
        ("Guests, nodes and clusters", (_passing(item) for item in difference.passings)),
        ("CPUs", (_cpu(item) for item in difference.cpus)),
        ("Encrypted workloads", _workloads(difference)),
        ("Could not be read any more", map(_open, came)),
        ("Could not be checked any more", map(_open, lost)),
        ("Can be read again", map(_open, filled)),
        ("Can be checked again", map(_open, made)),
        ("To know", (Entry("", (), note) for note in difference.notes)),
    ]
    return tuple(part for title, entries in found if (part := _part(title, entries)).entries)


def titled(audit: Audit) -> tuple[str, str]:
    """Return what an audit is called: its file, and when it was made."""
    when = audit.started.replace("T", " ").replace("Z", " UTC") or "a saved inventory"
    return clean(audit.file, NAME), clean(when, 40)


def summary(difference: Difference) -> str:
    """Return the closing sentence: how much changed."""
    counts = Counter(item.change for item in difference.findings)
    said = [f"{counts[change]} {words(change)}" for change in Change if counts[change]]
    passages = Counter(item.passage for item in difference.passings if item.what == "guest")
    moved = [f"{passages[each]} {words(each)}" for each in Passage if passages[each]]
    findings = f"findings: {', '.join(said)}" if said else "no findings in either"
    guests = f"; guests: {', '.join(moved)}" if moved else ""
    doubt = "" if difference.complete else "; not everything could be compared"
    return f"{findings}{guests}{doubt}."


def words(item: Change | Passage) -> str:
    """Return "no longer checked"."""
    return str(item).replace("-", " ")


def _part(title: str, entries: Iterable[Entry]) -> Part:
    """Return a part in which one line stands for all subjects of which the same is said."""
    alike: dict[tuple[str, str, Severity | None], list[str]] = {}
    for item in entries:
        alike.setdefault((item.head, item.said, item.severity), []).extend(item.subjects)
    found = [
        Entry(head, tuple(dict.fromkeys(subjects)), said, severity)
        for (head, said, severity), subjects in alike.items()
    ]
    return Part(title, tuple(found[:MOST]), max(0, len(found) - MOST))


def _findings(findings: Iterable[FindingChange], change: Change) -> Iterator[Entry]:
    for item in findings:
        if item.change is not change:
            continue
        found = item.shown
        severity = found.problem.severity
        yield Entry(
            f"{severity.word.upper()} {found.code}",
            (called(found.subject, found.name),),
            _said(item),
            severity,
        )


def _said(item: FindingChange) -> str:
    message = item.shown.problem.message.rstrip(".")
    note = f" ({item.note})" if item.note else ""
    if item.change is Change.CHANGED and item.before and item.after:
        was, now = item.before.problem, item.after.problem
        turned = f"{was.severity.word} before" if was.severity is not now.severity else ""
        earlier = f"it said: {was.message.rstrip('.')}" if was.message != now.message else ""
        return f"{message}; {'; '.join(filter(None, (turned, earlier)))}{note}"
    return f"{message}{note}"


def _passing(item: Passing) -> Entry:
    head = f"{item.what} {words(item.passage)}"
    where = {
        (True, True): f"from {item.origin} to {item.target}",
        (True, False): f"was on {item.origin}",
        (False, True): f"is on {item.target}",
        (False, False): "",
    }[bool(item.origin), bool(item.target)]
    said = "; ".join(filter(None, (where, item.note)))
    return Entry(head, (called(item.subject, item.name),), said)


def _cpu(item: CpuChange) -> Entry:
    label = item.before or "?"
    if item.before != item.after:
        label = f"{label} to {item.after or '?'}"
    won = f"gained {' '.join(item.won)}" if item.won else ""
    lost = f"lost {' '.join(item.lost)}" if item.lost else ""
    said = "; ".join(filter(None, (label, won, lost)))
    return Entry(item.what, (called(item.subject, item.name),), said)


def _workloads(difference: Difference) -> Iterator[Entry]:
    for item in difference.workloads:
        which = item.kind if item.workload.lower() == item.kind else f"{item.kind} {item.workload}"
        said = f"{which.strip()}: {item.before} to {item.after}"
        yield Entry("", (called(item.subject, item.name),), said)


def _open(item: Gap | Skip) -> Entry:
    code = item.code if isinstance(item, Skip) else ""
    return Entry(code, (item.subject,), reasoned(item.reason, item.needs))
