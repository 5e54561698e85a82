"""CPU003 against its fixtures, and what it quotes."""

from __future__ import annotations

import pytest

from support import rule_case
from support.rule_case import RuleCase
from unmask.engine.run import judge
from unmask.rules.cpu003_arguments_override_model import RULE


@pytest.mark.parametrize("case", rule_case.cases(RULE.code), ids=lambda case: case.name)
def test_it_says_what_its_fixtures_expect(case: RuleCase) -> None:
    rule_case.hold(RULE, case)


def test_remarks_that_say_the_same_are_quoted_once() -> None:
    remarks = [["overridden", "args sets -cpu host."]]
    guest = {"cpu": {"like": "host", "origin": "args", "remarks": remarks}, "remarks": remarks}
    (finding,) = judge(rule_case.inventory({"lab/one": None}, [guest]), [RULE]).findings
    assert finding.problem.evidence == ("args sets -cpu host.",)


def test_it_says_what_is_in_force_not_what_is_configured() -> None:
    guest = {
        "cpu": {"like": "host", "origin": "args", "remarks": [["overridden", "args has -cpu."]]},
        "running": {"like": "Haswell-noTSX", "origin": "live"},
    }
    (finding,) = judge(rule_case.inventory({"lab/one": "broadwell"}, [guest]), [RULE]).findings
    assert finding.problem.message.endswith("the guest gets Haswell-noTSX")
