"""CLU002 against its fixtures, and several groups of CPUs."""

from __future__ import annotations

import pytest

from support import rule_case
from support.rule_case import RuleCase
from unmask.engine.run import judge
from unmask.rules.clu002_same_cpu_without_aes import RULE


@pytest.mark.parametrize("case", rule_case.cases(RULE.code), ids=lambda case: case.name)
def test_it_says_what_its_fixtures_expect(case: RuleCase) -> None:
    rule_case.hold(RULE, case)


def test_each_group_of_equal_cpus_is_judged_for_itself() -> None:
    hosts = {
        "lab/a1": "broadwell",
        "lab/a2": {"like": "broadwell", "without": "aes"},
        "lab/b1": "rome",
        "lab/b2": {"like": "rome", "without": "pclmulqdq"},
    }
    found = judge(rule_case.inventory(hosts, []), [RULE]).findings
    assert [finding.problem.flags for finding in found] == [("aes",), ("pclmulqdq",)]
    assert "a2 does not show AES-NI" in found[0].problem.message
    assert "b2 does not show PCLMULQDQ" in found[1].problem.message


def test_nodes_of_different_clusters_are_not_compared() -> None:
    hosts = {"a/one": "broadwell", "b/one": {"like": "broadwell", "without": "aes"}}
    assert judge(rule_case.inventory(hosts, []), [RULE]).findings == ()
