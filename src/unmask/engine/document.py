"""Judge an inventory and put everything that a report may show into one document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from unmask.engine import accepted, moves
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
    measured: Sequence[BenchResult] = (),
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
        measured: What `unmask bench` has measured. What CPU models amount to on a node is used
            instead of general figures; all of it is shown.
    """
    figures = tuple(result for result in measured if result.asks_what_if)
    cases = guest_cases(inventory, finders, figures)
    outcome = judge(inventory, rules, cases)
    if acceptances:
        outcome = accepted.apply(outcome, acceptances, date.fromisoformat(started[:10]))
    complete = not inventory.gaps and not outcome.skips
    run = Run(version, started, inventory.targets, complete)
    return Document(
        run,
        inventory,
        cases,
        outcome,
        rules=tuple(sorted(rules, key=lambda rule: rule.code)),
        measured=tuple(sorted(measured, key=lambda result: (result.started, result.subject))),
    )


def with_moves(document: Document, rules: Sequence[Rule]) -> Document:
    """Return the document with where each guest could move.

    `rules` are all there are: a rule about moves that is left out would block nothing.
    """
    return replace(document, moves=moves.moves(document.inventory, rules, moves.Asked()))


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
