"""The report for people: a glance table, findings, what is not sure, then what to do."""

from __future__ import annotations

from collections import Counter

from unmask.model.finding import Severity
from unmask.model.report import Document, Format
from unmask.report import _detail, _findings, _glance, _to_do, _unread, _workloads
from unmask.report._detail import Detail
from unmask.report._paint import Paint
from unmask.report._text import wrap


def render(document: Document, width: int) -> str:
    """Return the report in plain text, for lines of `width` columns (0: unlimited)."""
    return _page(document, width, Paint(enabled=False), _detail.of(document))


def render_coloured(document: Document, width: int) -> str:
    """Return the report with a terminal's colours."""
    return _page(document, width, Paint(enabled=True), _detail.of(document))


def render_full(document: Document, width: int) -> str:
    """Return the report with all evidence and all remedies, however long that is."""
    return _page(document, width, Paint(enabled=False), _detail.FULL)


def render_full_coloured(document: Document, width: int) -> str:
    """Return the whole report with a terminal's colours."""
    return _page(document, width, Paint(enabled=True), _detail.FULL)


def _page(document: Document, width: int, paint: Paint, detail: Detail) -> str:
    lines = [
        *_glance.glance(document, width, paint),
        *_workloads.section(document, width, paint, detail),
        *_findings.section(document, width, paint, detail),
        *_unread.section(document, width, paint, detail),
        *_to_do.section(document, width, paint, detail),  # near the end, which a terminal shows
        "",
        *wrap(summary(document), width),
    ]
    return "\n".join(lines).lstrip("\n") + "\n"


def summary(document: Document) -> str:
    """Return the closing sentence: how much was looked at and what came of it."""
    outcome = document.outcome
    severities = Counter(finding.problem.severity for finding in outcome.findings)
    found = ", ".join(
        f"{severities[item]} {item.word}" for item in reversed(Severity) if severities[item]
    )
    load = _workloads.counted(document.cases)
    unseen = _workloads.unseen(document.cases)
    parts = [*filter(None, (load, unseen)), f"findings: {found}" if found else "no findings"]
    for count, what in (
        (len(outcome.accepted), "accepted"),
        (len(document.inventory.gaps), "not read"),
        (len(outcome.skips), "not checked"),
    ):
        if count:
            parts.append(f"{count} {what}")
    guests, hosts = len(document.inventory.guests), len(document.inventory.hosts)
    seen = f"{_counted(guests, 'guest')} on {_counted(hosts, 'host')}"
    return f"{seen}; {'; '.join(parts)}."


def _counted(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


FORMAT = Format(
    name="table",
    summary="for people: a table, then findings with remedies",
    render=render,
    coloured=render_coloured,
)
FULL = Format(
    name="table",
    summary="the same with all evidence and remedies",
    render=render_full,
    coloured=render_full_coloured,
)
"""The table of `--full`."""
