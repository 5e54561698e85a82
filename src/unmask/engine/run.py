"""Run rules over cases: problems become findings, unread values become skips."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from unmask.engine.cases import cluster_cases, guest_cases, host_cases
from unmask.errors import UnreadError
from unmask.model.case import ClusterCase, GuestCase, HostCase
from unmask.model.finding import About, Finding, Outcome, Problem, Rule, Skip
from unmask.model.inventory import Inventory

Case: TypeAlias = GuestCase | HostCase | ClusterCase


def judge(
    inventory: Inventory, rules: Sequence[Rule], cases: tuple[GuestCase, ...] | None = None
) -> Outcome:
    """Return all that `rules` say about `inventory`, worst first.

    Args:
        inventory: What sources have collected.
        rules: The rules to run.
        cases: The inventory's guest cases where the caller has built them already.

    A rule that raises anything but `UnreadError` has a bug: the error goes on to the caller with a
    note that names the rule and the subject.
    """
    guests = guest_cases(inventory) if cases is None else cases
    sets: dict[About, Sequence[Case]] = {
        About.GUEST: guests,
        About.HOST: host_cases(inventory),
        About.CLUSTER: cluster_cases(inventory, guests),
        About.MOVE: (),  # moves are looked at where they are asked about: engine.moves
        About.CHANGE: (),  # and changes where one is planned: unmask.fixes
    }
    findings: list[Finding] = []
    skips: list[Skip] = []
    for rule in rules:
        for case in sets[rule.about]:
            _apply(rule, case, findings, skips)
    return Outcome(ordered(findings), tuple(sorted(skips, key=_skip_order)))


def ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings by severity (worst first), then code, then subject."""
    return tuple(sorted(findings, key=_finding_order))


def _finding_order(finding: Finding) -> tuple[int, str, str, str]:
    return (-finding.problem.severity, finding.code, finding.subject, finding.problem.message)


def _skip_order(skip: Skip) -> tuple[str, str, str]:
    return (skip.code, skip.subject, skip.reason)


def _apply(rule: Rule, case: Case, findings: list[Finding], skips: list[Skip]) -> None:
    """Run one rule on one case; what it found before a value was missing stays found."""
    try:
        for problem in rule.check(case):
            findings.append(_finding(rule, case, problem))  # noqa: PERF401 - kept if a later step raises
    except UnreadError as error:
        skips.append(Skip(rule.code, _identity(case)[0], error.reason, error.needs))
    except Exception as error:
        error.add_note(f"raised by rule {rule.code} about {_identity(case)[0]}: a bug in unmask")
        raise


def _finding(rule: Rule, case: Case, problem: Problem) -> Finding:
    subject, name, host = _identity(case)
    return Finding(rule.code, rule.title, subject, name, host, problem)


def _identity(case: Case) -> tuple[str, str, str]:
    """Return subject, name for people, and host's subject."""
    match case:
        case GuestCase(guest=guest):
            return guest.subject, guest.name or guest.ident, guest.host
        case HostCase(host=host):
            return host.subject, host.name, host.subject
        case ClusterCase(cluster=cluster):
            return cluster.subject, cluster.name, ""
