"""One line a finding, and one for all that was accepted, not checked or not read."""

from __future__ import annotations

from collections.abc import Iterator

from unmask.model.finding import Finding
from unmask.model.report import Document, Format
from unmask.report import _csv, _records
from unmask.report._subjects import Subjects

COLUMNS = (
    "kind", "severity", "code", "title", "confidence", "site", "subject", "name", "node",
    "message", "evidence", "remedy", "command", "flags", "reason", "needs", "expires", "docs",
)  # fmt: skip
"""docs/formats.md says what each means. New ones come at the end only."""


def render(document: Document, width: int) -> str:  # noqa: ARG001 - lines are as long as they are
    """Return a heading and the lines: findings, accepted findings, skipped checks, gaps."""
    return _csv.text(COLUMNS, _rows(document))


def _rows(document: Document) -> Iterator[_csv.Row]:
    known = Subjects(document)
    outcome = document.outcome
    for finding in outcome.findings:
        yield _finding("finding", finding, known)
    for item in outcome.accepted:
        why: _csv.Row = {"reason": item.reason, "expires": item.expires}
        yield {**_finding("accepted", item.finding, known), **why}
    for skip in outcome.skips:
        seen = known.of(skip.code, skip.subject)
        yield {
            **_EMPTY,
            "kind": "not checked",
            "code": skip.code,
            "site": seen.site,
            "subject": skip.subject,
            "name": seen.name,
            "node": seen.node,
            "reason": skip.reason,
            "needs": skip.needs,
            "docs": _records.DOCS.format(code=skip.code),
        }
    for gap in document.inventory.gaps:
        told: _csv.Row = {"subject": gap.subject, "reason": gap.reason, "needs": gap.needs}
        yield {**_EMPTY, "kind": "not read", **told}


_EMPTY: _csv.Row = dict.fromkeys(COLUMNS, "")


def _finding(kind: str, finding: Finding, known: Subjects) -> _csv.Row:
    problem = finding.problem
    return {
        **_EMPTY,
        "kind": kind,
        "severity": problem.severity.word,
        "code": finding.code,
        "title": finding.title,
        "confidence": str(problem.confidence),
        "site": known.of(finding.code, finding.subject).site,
        "subject": finding.subject,
        "name": finding.name,
        "node": finding.host,
        "message": problem.message,
        "evidence": problem.evidence,
        "remedy": problem.remedy,
        "command": problem.command,
        "flags": " ".join(problem.flags),
        "docs": _records.DOCS.format(code=finding.code),
    }


FORMAT = Format(name="csv-findings", summary="for spreadsheets: one line a finding", render=render)
