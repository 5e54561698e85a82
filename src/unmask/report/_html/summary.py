"""What was audited, how bad it is, and the worst of it in plain words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from unmask.crypto.sentence import percent
from unmask.model.case import GuestCase
from unmask.model.finding import Finding, Severity
from unmask.model.outlook import Status
from unmask.model.reading import Known
from unmask.model.report import Document
from unmask.model.workload import JudgedWorkload
from unmask.report import _workloads, table
from unmask.report._html.labels import Labels, Ref, sentence
from unmask.report._html.loads import called
from unmask.report._html.todo import Todo
from unmask.report._text import clean, listed

_TIME = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)Z", re.ASCII)
WORST = 3
"""Things that are told in plain words."""
SLOW = (Status.SOFTWARE.value, Status.PARTIAL.value)


@dataclass(frozen=True, slots=True)
class Count:
    """How many of one kind there are, and their share of all as a bar's width in per cent."""

    word: str
    number: int
    start: float = 0.0
    width: float = 0.0


@dataclass(frozen=True, slots=True)
class Thing:
    """One of the worst things."""

    severity: str
    subject: Ref
    text: str
    """What is wrong, without a full stop."""
    cost: str
    """"keeps 0.6 % of its speed"; "" where it is not a matter of speed."""
    anchor: str
    """Of the finding that tells more; "" for none."""
    command: str


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
    document: Document, labels: Labels, todo: tuple[Todo, ...], anchors: dict[str, str]
) -> Summary:
    """Return the summary.

    Args:
        document: What is reported.
        labels: Of its subjects.
        todo: What there is to do, for the commands.
        anchors: By subject, the id of its worst finding on the page.
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
        verdict=_verdict(statuses, severities),
        doubt=_doubt(document),
        severities=tuple(
            Count(item.word, severities[item]) for item in reversed(Severity) if severities[item]
        ),
        statuses=tuple(_shares(statuses)),
        workloads=statuses.total(),
        things=tuple(_things(document, labels, todo, anchors)),
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


def _verdict(statuses: Counter[str], severities: Counter[Severity]) -> str:
    slow, part, all_ = statuses[Status.SOFTWARE], statuses[Status.PARTIAL], statuses.total()
    if slow or part:
        some = f"{slow} of {all_} encrypted workloads {_run(slow)} in software" if slow else ""
        more = f"{part} {_use(part)} the CPU's instructions only in part" if part else ""
        if not some:
            more = f"{part} of {all_} encrypted workloads {_use(part)} the instructions in part"
        return f"{', and '.join(word for word in (some, more) if word)}."
    if all_:
        return f"None of {all_} encrypted workloads is known to run in software."
    if severities:
        return "No encrypted workload was seen; there are findings about the CPUs themselves."
    return "Nothing was found."


def _doubt(document: Document) -> str:
    """Return for how many guests nobody knows what they encrypt: not seen is not none."""
    blind = sum(
        not case.workloads and not isinstance(case.guest.visit.inside, Known)
        for case in document.cases
    )
    if not blind:
        return ""
    count = len(document.cases)
    which = f"{blind} of {count} guests" if count > 1 else "the guest"
    return f"What {which} may encrypt is not known: nobody was inside."


def _run(number: int) -> str:
    return "runs" if number == 1 else "run"


def _use(number: int) -> str:
    return "uses" if number == 1 else "use"


def _things(
    document: Document, labels: Labels, todo: tuple[Todo, ...], anchors: dict[str, str]
) -> Iterator[Thing]:
    """Yield the worst thing of each of the worst subjects: first by severity, then by its cost."""
    worst: dict[str, Finding] = {}
    for finding in document.outcome.findings:
        held = worst.get(finding.subject)
        if held is None or finding.problem.severity > held.problem.severity:
            worst[finding.subject] = finding
    cases = {case.guest.subject: case for case in document.cases}
    commands = {item.subject: item.command for item in todo}
    slow = {subject: _slowest(cases[subject]) for subject in worst if subject in cases}
    factors = {
        subject: item.outlook.factor
        for subject, item in slow.items()
        if item and item.outlook and item.outlook.factor is not None
    }
    order = sorted(
        worst, key=lambda one: (-worst[one].problem.severity, factors.get(one, 1.0), one)
    )
    for subject in order[:WORST]:
        finding, load = worst[subject], slow.get(subject)
        factor = factors.get(subject)
        text, cost = sentence(finding.problem.message), ""
        if load and factor is not None:
            text, cost = called(load), f"keeps {percent(factor)} of its speed"
        yield Thing(
            finding.problem.severity.word,
            labels.of(subject, finding.name),
            text,
            cost,
            anchors.get(subject, ""),
            commands.get(subject, ""),
        )


def _slowest(case: GuestCase) -> JudgedWorkload | None:
    """Return the workload that keeps least of its speed, where that is known."""
    slow = [
        (item.outlook.factor, number, item)
        for number, item in enumerate(case.workloads)
        if item.status in SLOW and item.outlook and item.outlook.factor is not None
    ]
    return min(slow)[2] if slow else None
