"""REQ001 against its fixtures, and its advice tried out."""

from __future__ import annotations

import pytest

from support import rule_case
from support.rule_case import RuleCase
from unmask.engine.run import judge
from unmask.rules.req001_level_below_system import RULE


@pytest.mark.parametrize("case", rule_case.cases(RULE.code), ids=lambda case: case.name)
def test_it_says_what_its_fixtures_expect(case: RuleCase) -> None:
    rule_case.hold(RULE, case)


def test_what_it_suggests_is_enough() -> None:
    for number, host in enumerate(("broadwell", "rome")):
        guest = {"os": "win11", "subject": f"lab/{number}"}
        (finding,) = judge(rule_case.inventory({"lab/one": host}, [guest]), [RULE]).findings
        cured = {**guest, "cpu": finding.problem.command.split()[-1]}
        assert judge(rule_case.inventory({"lab/one": host}, [cured]), [RULE]).findings == ()


def test_a_host_without_aes_gets_a_model_without_it() -> None:
    guest = {"os": "win11"}
    (finding,) = judge(rule_case.inventory({"lab/one": "nehalem"}, [guest]), [RULE]).findings
    assert finding.problem.command == "qm set 101 --cpu x86-64-v2"
