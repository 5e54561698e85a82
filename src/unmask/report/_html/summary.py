"""What was audited, how bad it is, and the worst of it in plain words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from unmask.model.finding import Finding, Severity
from unmask.model.outlook import Status
from unmask.model.report import Document
from unmask.report import _workloads, table
from unmask.report._html import things
from unmask.report._html.labels import Labels
from unmask.report._html.things import Thing
from unmask.report._html.todo import Todo
from unmask.report._text import clean, listed

_TIME = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class Count:
    """How many of one kind there are, and their share of all as a bar's width in per cent."""

    word: str
    number: int
    start: float = 0.0
    width: float = 0.0


@dataclass(frozen=True, slots=True)
class Summary:
    """The first thing that is read."""

    targets: str
    started: str
    version: str
    complete: bool
    lacking: tuple[str, ...]
    """What is incomplete, counted, where the run is not complete."""
    sentence: str
    verdict: str
    """One sentence that says whether there is something to do."""
    doubt: str
    """How many guests' encrypted work is not known; "" where all of it is."""
    severities: tuple[Count, ...]
    statuses: tuple[Count, ...]
    workloads: int
    things: tuple[Thing, ...]


def build(
    document: Document, labels: Labels, todo: tuple[Todo, ...], places: dict[Finding, str]
) -> Summary:
    """Return the summary.

    Args:
        document: What is reported.
        labels: Of its subjects.
        todo: What there is to do, for the commands.
        places: The id of each finding on the page.
    """
    outcome, inventory = document.outcome, document.inventory
    severities = Counter(item.problem.severity for item in outcome.findings)
    statuses = Counter(item.status for case in document.cases for item in case.workloads)
    counts = (
        (len(inventory.gaps), "could not be read"),
        (len(outcome.skips), "could not be checked"),
    )
    lacking = [f"{number} {what}" for number, what in counts if number]
    return Summary(
        targets=listed([clean(target, 80) for target in document.run.targets]) or "-",
        started=moment(document.run.started),
        version=clean(document.run.version, 40),
        complete=document.run.complete,
        lacking=tuple(lacking) if not document.run.complete else (),
        sentence=table.summary(document),
        verdict=_verdict(document, statuses),
        doubt=_doubt(document),
        severities=tuple(
            Count(item.word, severities[item]) for item in reversed(Severity) if severities[item]
        ),
        statuses=tuple(_shares(statuses)),
        workloads=statuses.total(),
        things=things.build(document, labels, todo, places),
    )


def moment(text: str) -> str:
    """Return "2026-12-01 08:00:00 UTC" of a time as runs write it; any other text as it is."""
    found = _TIME.fullmatch(text)
    return f"{found[1]} {found[2]} UTC" if found else clean(text, 40)


def _shares(statuses: Counter[str]) -> Iterator[Count]:
    start = 0.0
    for word in _workloads.WORDS:
        if statuses[word]:
            width = 100 * statuses[word] / statuses.total()
            yield Count(word, statuses[word], round(start, 2), round(width, 2))
            start += width


def _verdict(document: Document, statuses: Counter[str]) -> str:
    slow, part, all_ = statuses[Status.SOFTWARE], statuses[Status.PARTIAL], statuses.total()
    if slow or part:
        some = f"{slow} of {all_} encrypted workloads {_run(slow)} in software" if slow else ""
        more = f"{part} {_use(part)} the CPU's instructions only in part" if part else ""
        if not some:
            more = f"{part} of {all_} encrypted workloads {_use(part)} the instructions in part"
        return f"{', and '.join(word for word in (some, more) if word)}."
    if all_:
        return f"None of {all_} encrypted workloads is known to run in software."
    if document.outcome.findings:
        return "No encrypted workload was seen; there are findings about the CPUs themselves."
    if document.run.complete:
        return "Nothing was found."
    read = document.inventory.hosts or document.cases
    return "Nothing was found in what could be read." if read else "Nothing could be read."


def _doubt(document: Document) -> str:
    """Return for how many guests nobody knows what they encrypt: not seen is not none."""
    blind = _workloads.blind(document.cases)
    if not blind:
        return ""
    count = len(document.cases)
    which = f"{blind} of {count} guests" if count > 1 else "the guest"
    return f"What {which} may encrypt is not known: nobody was inside."


def _run(number: int) -> str:
    return "runs" if number == 1 else "run"


def _use(number: int) -> str:
    return "uses" if number == 1 else "use"
