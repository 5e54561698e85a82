"""`unmask diff`: what changed between two audits."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from unmask import __version__, plugins
from unmask.cli import choices, files, terminal
from unmask.cli.audit import FailOn
from unmask.cli.started import started
from unmask.dialects import audit_report, saved
from unmask.engine import accepted, diff, document
from unmask.engine.accepted import Acceptance
from unmask.errors import InputError, UsageError
from unmask.model.difference import Audit, Difference
from unmask.model.finding import Outcome, Rule
from unmask.model.workload import Finder
from unmask.report import _diff, _diff_records
from unmask.report import json as report
from unmask.report._paint import Paint

LIMIT = max(audit_report.LIMIT, saved.LIMIT)
"""Bytes of a file that are looked at."""
UNDATED = "1970-01-01T00:00:00Z"
"""Stands for the time of a saved inventory, which has none; it is not shown."""


class DiffFormat(StrEnum):
    """How a comparison is shown."""

    TABLE = "table"
    JSON = "json"
    MARKDOWN = "markdown"


OLD = typer.Argument(
    metavar="OLD", help="What --format json or --save wrote earlier.", show_default=False
)
NEW = typer.Argument(metavar="NEW", help="The same, later.", show_default=False)
FORMAT = typer.Option("--format", help="For people, for programs, or for a ticket.")
OUTPUT = typer.Option(
    "--output", "-o", metavar="FILE", help="Write the report to a file, whole or not at all."
)
EVERY = typer.Option("--all", help="List the unchanged findings too.")
FAIL_ON = typer.Option(
    "--fail-on", help="Exit with 1 where a finding is new, or has become so severe."
)
ACCEPT = typer.Option(
    "--accept", metavar="FILE", help="Accepted findings (TOML); may be given several times."
)
STRICT = typer.Option(
    "--strict", help="Exit with 3 where one of them could not read or check something."
)


def run(  # noqa: PLR0913 - a command's options are its parameters
    *,
    older: Annotated[Path, OLD],
    newer: Annotated[Path, NEW],
    form: Annotated[DiffFormat, FORMAT] = DiffFormat.TABLE,
    output: Annotated[Path | None, OUTPUT] = None,
    every: Annotated[bool, EVERY] = False,
    fail_on: Annotated[FailOn, FAIL_ON] = FailOn.HIGH,
    accept: Annotated[list[Path] | None, ACCEPT] = None,
    strict: Annotated[bool, STRICT] = False,
) -> None:
    """Show what changed between two audits.

    Compared are JSON reports and saved inventories; an inventory is judged first, by all rules.
    """
    agreed = choices.acceptances(accept, (), plugins.load("unmask.rules", "RULE", Rule))
    difference = diff.compare(_audit(older, agreed), _audit(newer, agreed))
    _write(difference, form, output, every=every)
    raise typer.Exit(diff.exit_code(difference, fail_on.severity, strict=strict))


def _audit(path: Path, agreed: Sequence[Acceptance]) -> Audit:
    """Return the audit in a file; a saved inventory goes through the JSON report as well.

    Raises:
        UsageError: It cannot be read, or is neither.
    """
    text = files.read(path, LIMIT)
    try:
        if saved.looks_saved(text):
            found = replace(audit_report.load(_judged(text)), started="")
        else:
            found = audit_report.load(text)
    except InputError as error:
        raise UsageError(
            f"{path}: {error}: compare what unmask audit --format json, --save or unmask collect "
            "wrote"
        ) from error
    return _agreed(replace(found, file=str(path)), agreed)


def _judged(text: str) -> str:
    """Return the JSON report of a saved inventory."""
    made = document.build(
        saved.load(text),
        plugins.load("unmask.rules", "RULE", Rule),
        version=__version__,
        started=UNDATED,
        finders=plugins.load("unmask.workloads", "WORKLOAD", Finder),
    )
    return report.render(made, 0)


def _agreed(audit: Audit, agreed: Sequence[Acceptance]) -> Audit:
    """Return the audit without the findings that --accept accepts today."""
    if not agreed:
        return audit
    today = date.fromisoformat(started()[:10])
    outcome = accepted.apply(Outcome(audit.findings, (), audit.accepted), agreed, today)
    return replace(audit, findings=outcome.findings, accepted=outcome.accepted)


def _write(difference: Difference, form: DiffFormat, output: Path | None, *, every: bool) -> None:
    if form is DiffFormat.JSON:
        text = _diff_records.render(difference, every=every)
    elif form is DiffFormat.MARKDOWN:
        text = _diff.markdown(difference, every=every)
    else:
        paint = Paint(output is None and terminal.colours(os.environ))
        text = _diff.table(difference, terminal.width(os.environ), paint, every=every)
    if output:
        files.write(output, text)
    else:
        terminal.put(text)
