"""Judge an inventory and put everything that a report may show into one document."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from unmask.engine import accepted
from unmask.engine.accepted import Acceptance
from unmask.engine.cases import guest_cases
from unmask.engine.run import judge
from unmask.model.bench import BenchResult
from unmask.model.finding import Outcome, Rule, Severity
from unmask.model.inventory import Inventory
from unmask.model.report import Document, Run
from unmask.model.workload import Finder


def build(
    inventory: Inventory,
    rules: Sequence[Rule],
    *,
    version: str,
    started: str,
    acceptances: Sequence[Acceptance] = (),
    finders: Sequence[Finder] = (),
    figures: Sequence[BenchResult] = (),
) -> Document:
    """Return the judged document of one run.

    Args:
        inventory: What the sources have collected, merged over all targets; a target that could
            not be read at all is a gap whose subject is the target as it was written.
        rules: The rules to run.
        version: Of unmask.
        started: When the run began, ISO 8601 in UTC; accepted findings expire by this day.
        acceptances: The operator's accepted findings.
        finders: What looks for encrypted workloads in the guests.
        figures: What CPU models were measured to amount to on nodes, used instead of general ones.
    """
    cases = guest_cases(inventory, finders, figures)
    outcome = judge(inventory, rules, cases)
    if acceptances:
        outcome = accepted.apply(outcome, acceptances, date.fromisoformat(started[:10]))
    complete = not inventory.gaps and not outcome.skips
    run = Run(version, started, inventory.targets, complete)
    return Document(run, inventory, cases, outcome)


def worst(outcome: Outcome) -> Severity | None:
    """Return the highest severity among the findings that are not accepted."""
    return max((finding.problem.severity for finding in outcome.findings), default=None)


def exit_code(document: Document, fail_on: Severity | None, *, strict: bool = False) -> int:
    """Return what the process ends with.

    3 where a target could not be read at all, or where `strict` is set and the run is not
    complete; else 1 where a finding is at or above `fail_on` (None: never); else 0. What is
    incomplete comes first: a caller who sees 1 may rely on having seen every finding.
    """
    unread = {gap.subject for gap in document.inventory.gaps}
    if unread.intersection(document.run.targets) or (strict and not document.run.complete):
        return 3
    severity = worst(document.outcome)
    failed = fail_on is not None and severity is not None and severity >= fail_on
    return 1 if failed else 0
