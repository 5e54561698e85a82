"""CPU009 against its fixtures, and guests that share a host."""

from __future__ import annotations

import pytest

from support import rule_case
from support.rule_case import RuleCase
from unmask.engine.run import judge
from unmask.rules.cpu009_change_pending import RULE


@pytest.mark.parametrize("case", rule_case.cases(RULE.code), ids=lambda case: case.name)
def test_it_says_what_its_fixtures_expect(case: RuleCase) -> None:
    rule_case.hold(RULE, case)


def test_a_change_there_and_back_gains_what_it_loses() -> None:
    there = {"subject": "lab/1", "cpu": "kvm64", "pending": "Haswell-noTSX"}
    back = {"subject": "lab/2", "cpu": "Haswell-noTSX", "pending": "kvm64"}
    found = judge(rule_case.inventory({"lab/one": "broadwell"}, [there, back]), [RULE]).findings
    assert found[0].problem.flags == found[1].problem.flags
    assert found[0].problem.evidence[0].replace("gain", "lose") == found[1].problem.evidence[0]


def test_flags_of_the_host_that_cannot_be_given_are_not_promised() -> None:
    guest = {"cpu": "kvm64", "pending": {"like": "Westmere", "enforced": False}}
    host = {"like": "broadwell", "without": "aes"}
    (finding,) = judge(rule_case.inventory({"lab/one": host}, [guest]), [RULE]).findings
    assert "aes" not in finding.problem.flags
    assert "pclmulqdq" in finding.problem.flags
