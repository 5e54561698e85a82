"""CLU004 against its fixtures, and several models."""

from __future__ import annotations

import pytest

from support import rule_case
from support.rule_case import RuleCase
from unmask.engine.run import judge
from unmask.rules.clu004_custom_model_beyond_node import RULE


@pytest.mark.parametrize("case", rule_case.cases(RULE.code), ids=lambda case: case.name)
def test_it_says_what_its_fixtures_expect(case: RuleCase) -> None:
    rule_case.hold(RULE, case)


def test_each_model_is_judged_for_itself() -> None:
    hosts = {"lab/one": "broadwell", "lab/two": "nehalem"}
    models = {
        "both": {"like": "kvm64", "on": "ssse3"},
        "new": {"like": "kvm64", "on": "avx512f"},
        "some": {"like": "kvm64", "on": "aes"},
    }
    found = judge(rule_case.inventory(hosts, [], models), [RULE]).findings
    said = {finding.problem.flags: finding.problem.message for finding in found}
    assert said.keys() == {("avx512f",), ("aes",)}
    assert "custom model some" in said["aes",]
    assert "do not start on two" in said["aes",]
    assert "no node whose flags are known can run it" in said["avx512f",]
