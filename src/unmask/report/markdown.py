"""The report as GitHub-flavoured Markdown: for issues, wikis, merge requests, a job's summary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from unmask.model.case import GuestCase
from unmask.model.finding import Finding
from unmask.model.report import Document, Format
from unmask.report import _cells, _findings, _glance, _records, _unread, _workloads
from unmask.report._actions import actions
from unmask.report._markdown import cell, code, code_cell, escape, folded, table
from unmask.report._text import LISTED
from unmask.report.table import summary

FLAGS = ("AES", "CLMUL")
"""Headings that are written as they are."""
NAME = 120
"""Characters of a subject."""
SHOWN = 20
"""Findings of one code that are shown; csv-findings and JSON have all."""


def render(document: Document, width: int) -> str:  # noqa: ARG001 - a page wraps its own lines
    """Return the report as one page of Markdown that ends with a line break."""
    lines = ["# unmask audit", "", escape(summary(document)), "", *_run(document)]
    for title, body in (
        ("Guests", _guests(document)),
        ("Encrypted workloads", _loads(document)),
        ("What to do first", _todo(document)),
        ("Findings", _all_findings(document)),
        ("Not known", _not_known(document)),
        ("Accepted", _accepted(document)),
    ):
        found = list(body)
        if found:
            lines += ["", f"## {title}", "", *found]
    return "\n".join(_single(lines)) + "\n"


def _single(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines with one empty line where there are several."""
    empty = False
    for line in lines:
        if line or not empty:
            yield line
        empty = not line


def _run(document: Document) -> Iterator[str]:
    run = document.run
    yield f"- {escape(', '.join(run.targets)) or 'no target'}"
    state = "complete" if run.complete else "**not complete**: see Not known"
    yield f"- {cell(run.started, 40)}, unmask {cell(run.version, 40)}; {state}"


def _guests(document: Document) -> Iterator[str]:
    if not document.cases:
        return
    whole = _glance.cells(document)
    names = ("GUEST", "NODE", "SITE")
    rows = zip(*whole.values(), strict=True)
    headings = [head if head in FLAGS else head.capitalize() for head in whole]
    yield from table(
        headings,
        (
            [
                code_cell(text) if heading in names else cell(text)
                for heading, text in zip(whole, row, strict=True)
            ]
            for row in rows
        ),
    )


def _loads(document: Document) -> Iterator[str]:
    rows = [_workloads.Row(case, item) for case in document.cases for item in case.workloads]
    if not rows:
        return
    whole = _workloads.cells(sorted(rows, key=lambda row: row.badness))
    headings = [heading.capitalize() for heading in whole]
    yield from table(
        headings,
        ([cell(text) for text in row] for row in zip(*whole.values(), strict=True)),
    )


def _todo(document: Document) -> Iterator[str]:
    guests = {case.guest.subject: case for case in document.cases}
    for item in actions(document):
        name = code(_guest(guests[item.subject]), NAME) or "-"
        yield f"- **{item.severity.word}** {name}: {cell(item.what)}"
        if item.command:
            yield f"  {code(item.command)}"


def _guest(case: GuestCase) -> str:
    site = f"{case.guest.site}: " if case.guest.site else ""
    return f"{site}{_cells.guest(case)}"


def _all_findings(document: Document) -> Iterator[str]:
    for number, group in enumerate(_findings.groups(document.outcome.findings)):
        yield from ([""] if number else [])
        yield from _group(group)


def _group(group: Sequence[Finding]) -> Iterator[str]:
    first = group[0]
    page = f"`unmask explain {first.code}`, {_records.DOCS.format(code=first.code)}"
    yield f"### {first.problem.severity.word.upper()} {first.code} {cell(first.title, NAME)}"
    yield ""
    for finding in group[:SHOWN]:
        yield from _finding(finding, first)
    if len(group) > SHOWN:
        rest = ", ".join(code(finding.subject, NAME) for finding in group[SHOWN:][:LISTED])
        yield f"- and {len(group) - SHOWN} more: {rest}"
    yield ""
    yield f"More: {page}"


def _finding(finding: Finding, first: Finding) -> Iterator[str]:
    problem = finding.problem
    marks = [problem.severity.word] if problem.severity is not first.problem.severity else []
    marks += ["tentative"] if problem.confidence == "tentative" else []
    said = f" ({', '.join(marks)})" if marks else ""
    subject, name = code(finding.subject, NAME), code(finding.name, NAME)
    named = f" {name}" if name and not finding.subject.endswith(finding.name) else ""
    yield f"- {subject or '-'}{named}{said}: {cell(problem.message)}"
    inner = [f"- {escape(fact)}" for fact in problem.evidence]
    if problem.remedy:
        inner.append(f"- **Remedy:** {cell(problem.remedy)}")
    if problem.command:
        inner.append(f"- **Command:** {code(problem.command)}")
    if inner:
        yield ""
        yield from (f"  {line}".rstrip() for line in folded("evidence and remedy", inner))
        yield ""


def _not_known(document: Document) -> Iterator[str]:
    for (reason, needs), alike in _unread.gaps_alike(document.inventory.gaps).items():
        yield _told("not read", (gap.subject for gap in alike), reason, needs)
    for skip in document.outcome.skips:
        what = f"{cell(skip.code, NAME)} not checked"
        yield _told(what, [skip.subject], skip.reason, skip.needs)
    for text, subjects in _unread.remarked(document.inventory.guests).items():
        yield _told("noticed", subjects, text, "")
    for (reason, needs), probes in _unread.lacking(document.inventory.guests).items():
        subjects = sorted(set[str]().union(*probes.values()))
        what = cell(", ".join(sorted(probes)).replace("_", " "))
        yield _told(f"not seen inside ({what})", subjects, reason or "not all of it", needs)


def _told(what: str, subjects: Iterable[str], reason: str, needs: str) -> str:
    names = [code(subject, NAME) or "-" for subject in subjects]
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    needed = f" (needs {cell(needs)})" if needs else ""
    return f"- {what}: {', '.join(names[:LISTED])}{more}: {cell(reason) or '-'}{needed}"


def _accepted(document: Document) -> Iterator[str]:
    for item in document.outcome.accepted:
        finding = item.finding
        until = f" (until {cell(item.expires, NAME)})" if item.expires else ""
        subject = code(finding.subject, NAME) or "-"
        yield f"- {cell(finding.code, NAME)} {subject}: {cell(item.reason) or '-'}{until}"


FORMAT = Format(
    name="markdown", summary="for issues, wikis and the summary of a CI job", render=render
)
