"""The table of guests, one line each, and what led to it below."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from unmask.model.case import GuestCase
from unmask.model.finding import Finding, Severity
from unmask.model.reading import Known
from unmask.model.report import Document
from unmask.report import _cells, _findings, _workloads
from unmask.report._html import guest_details
from unmask.report._html.guest_details import Details
from unmask.report._html.labels import Labels, Ref, place
from unmask.report._html.loads import Load, load, worst
from unmask.report._text import clean

LOADS = 6
"""Workloads that a line names; the details name more."""
NONE = "none"
UNSEEN = "unseen"
NOT_SEEN = {
    (True, True): "no encrypted workload seen inside",
    (True, False): "no encrypted workload seen inside",
    (False, True): "could not be entered: what it encrypts is not known",
    (False, False): "nobody looked inside: what it encrypts is not known",
}
"""By whether somebody was inside, and whether anybody tried."""
SEEN_IN_PART = "no encrypted workload seen inside, where not every kind could be looked for"


@dataclass(frozen=True, slots=True)
class GuestRow:
    """One guest."""

    anchor: str
    subject: str
    label: str
    place: str
    node: str
    node_subject: str
    state: str
    configured: str
    effective: str
    aes: str
    clmul: str
    level: str
    loads: tuple[Load, ...]
    more_loads: int
    status: str
    """The worst workload's; "none" where there is none, "unseen" where not all was seen."""
    unseen: str
    """What is said in place of workloads, where none was seen."""
    severity: str
    """Of the worst finding, or "none"."""
    code: str
    anchor_of_worst: str
    more_findings: int
    details: Details


@dataclass(frozen=True, slots=True)
class Guests:
    """The whole table."""

    rows: tuple[GuestRow, ...]
    nodes: tuple[Ref, ...]
    """For the filter: what a row's `node_subject` may be in `anchor`, its name in `text`."""
    severities: tuple[str, ...]
    places: bool
    """Whether guests are of more than one site, cluster or host."""
    unseen: bool
    """Whether no guest is on any node that is known."""

    @property
    def columns(self) -> int:
        """Return how many columns the table has."""
        return 9 + self.places + (not self.unseen)


def build(document: Document, labels: Labels, anchors: dict[tuple[str, str], str]) -> Guests:
    """Return the table.

    Args:
        document: What is reported.
        labels: Of its subjects.
        anchors: By subject and code, the id of a finding on the page.
    """
    findings: dict[str, list[Finding]] = defaultdict(list)
    for finding in document.outcome.findings:
        findings[finding.subject].append(finding)
    rows = tuple(
        _row(case, labels, findings[case.guest.subject], anchors) for case in document.cases
    )
    nodes = {row.node_subject: row.node for row in rows if row.node}
    names = list(nodes.values())
    there = {row.severity for row in rows}
    return Guests(
        rows,
        tuple(
            Ref(name if names.count(name) == 1 else subject, subject)
            for subject, name in nodes.items()
        ),
        tuple(item.word for item in reversed(Severity) if item.word in there),
        len({row.place for row in rows}) > 1,
        not nodes,
    )


def _row(
    case: GuestCase,
    labels: Labels,
    findings: Sequence[Finding],
    anchors: dict[tuple[str, str], str],
) -> GuestRow:
    guest = case.guest
    order = _findings.worst_first(findings)
    loads = sorted(case.workloads, key=lambda item: _workloads.Row(case, item).badness)
    first = order[0] if order else None
    inside = isinstance(guest.visit.inside, Known)
    partly = inside and bool(case.unread)
    return GuestRow(
        anchor=labels.guests[guest.subject].anchor,
        subject=clean(guest.subject, 120),
        label=_cells.guest(case),
        place=clean(place(guest.subject), 80),
        node=_cells.node(case),
        node_subject=clean(guest.host, 120),
        state=_cells.state(case),
        configured=_cells.configured(case),
        effective=_cells.effective(case),
        aes=_cells.flag(case, _cells.AES),
        clmul=_cells.flag(case, _cells.CLMUL),
        level=_cells.level(case),
        loads=tuple(load(item) for item in loads[:LOADS]),
        more_loads=max(0, len(loads) - LOADS),
        status=worst(case.workloads) if case.workloads or (inside and not partly) else UNSEEN,
        unseen=SEEN_IN_PART if partly else NOT_SEEN[inside, guest.visit.tried],
        severity=first.problem.severity.word if first else NONE,
        code=first.code if first else "",
        anchor_of_worst=anchors.get((guest.subject, first.code), "") if first else "",
        more_findings=max(0, len(order) - 1),
        details=guest_details.build(case, order, anchors),
    )
