"""CPU011 against its fixtures, and pending changes."""

from __future__ import annotations

import pytest

from support import rule_case
from support.rule_case import RuleCase
from unmask.engine.run import judge
from unmask.model.finding import Severity
from unmask.rules.cpu011_ignored_configuration import RULE


@pytest.mark.parametrize("case", rule_case.cases(RULE.code), ids=lambda case: case.name)
def test_it_says_what_its_fixtures_expect(case: RuleCase) -> None:
    rule_case.hold(RULE, case)


def test_what_is_ignored_in_a_pending_change_counts_as_the_cpus() -> None:
    guest = {"pending": {"like": "host", "remarks": [["ignored", "The key level is ignored."]]}}
    (finding,) = judge(rule_case.inventory({"lab/one": None}, [guest]), [RULE]).findings
    assert finding.problem.severity is Severity.LOW
    assert finding.problem.evidence == ("The key level is ignored.",)


def test_a_container_can_have_ignored_lines_too() -> None:
    guest = {
        "kind": "container",
        "cpu": "container",
        "remarks": [["ignored", "Line 2 is ignored."]],
    }
    (finding,) = judge(rule_case.inventory({"lab/one": None}, [guest]), [RULE]).findings
    assert finding.problem.severity is Severity.INFO
