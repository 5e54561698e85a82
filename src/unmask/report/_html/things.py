"""The worst things, in plain words, with what they cost and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from unmask.crypto.sentence import percent
from unmask.model.case import GuestCase
from unmask.model.finding import Finding
from unmask.model.outlook import Status
from unmask.model.report import Document
from unmask.model.workload import JudgedWorkload
from unmask.report._html.labels import Labels, Ref, sentence
from unmask.report._html.loads import called
from unmask.report._html.todo import Todo

WORST = 3
"""Things that are told in plain words, each of another subject."""
SLOW = (Status.SOFTWARE.value, Status.PARTIAL.value)
ENCRYPTION = "CRY"
"""Begins the codes of findings that are about encrypted workloads."""


@dataclass(frozen=True, slots=True)
class Thing:
    """One of the worst things."""

    severity: str
    subject: Ref
    text: str
    """What is wrong, without a full stop."""
    cost: str
    """"keeps 0.6 % of its speed"; "" where it is not a matter of speed, or not known."""
    anchor: str
    """Of the finding that tells more; "" for none."""
    command: str


def build(
    document: Document, labels: Labels, todo: tuple[Todo, ...], places: dict[Finding, str]
) -> tuple[Thing, ...]:
    """Return the worst thing of each of the worst subjects: first by severity, then by its cost.

    Args:
        document: What is reported.
        labels: Of its subjects.
        todo: What there is to do, for the commands.
        places: The id of each finding on the page.
    """
    findings: dict[str, list[Finding]] = {}
    for finding in document.outcome.findings:
        findings.setdefault(finding.subject, []).append(finding)
    cases = {case.guest.subject: case for case in document.cases}
    commands = {item.subject: item.command for item in todo}
    worst = [_worst(some, cases.get(subject)) for subject, some in findings.items()]
    worst.sort(key=lambda one: (-one[0].problem.severity, _factor(one[1]), one[0].subject))
    return tuple(
        Thing(
            finding.problem.severity.word,
            labels.of(finding.subject, finding.name),
            called(load) if load else sentence(finding.problem.message),
            f"keeps {percent(_factor(load))} of its speed" if load else "",
            places.get(finding, ""),
            commands.get(finding.subject, ""),
        )
        for finding, load in worst[:WORST]
    )


def _worst(
    findings: list[Finding], case: GuestCase | None
) -> tuple[Finding, JudgedWorkload | None]:
    """Return a subject's worst finding, and the slowest workload that it is about, if any."""
    severity = max(finding.problem.severity for finding in findings)
    worst = [finding for finding in findings if finding.problem.severity == severity]
    for load in _slow(case) if case else ():
        for finding in worst:
            if finding.code.startswith(ENCRYPTION) and _names(finding, load.workload.name):
                return finding, load
    return worst[0], None


def _names(finding: Finding, name: str) -> bool:
    """Return whether a finding's sentence has the name, and not only as a part of another."""
    whole = rf"(?<![\w/.-]){re.escape(name)}(?![\w/-])"
    return bool(name) and re.search(whole, finding.problem.message) is not None


def _slow(case: GuestCase) -> Iterator[JudgedWorkload]:
    """Yield the workloads of which it is known what they lose, the slowest first."""
    known = [
        item
        for item in case.workloads
        if item.status in SLOW and item.outlook and item.outlook.factor is not None
    ]
    yield from sorted(known, key=_factor)


def _factor(load: JudgedWorkload | None) -> float:
    factor = load.outlook.factor if load and load.outlook else None
    return 1.0 if factor is None else factor
