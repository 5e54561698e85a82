"""CLU003 against its fixtures, and groups of nodes."""

from __future__ import annotations

import pytest

from support import rule_case
from support.rule_case import RuleCase
from unmask.engine.run import judge
from unmask.rules.clu003_same_cpu_drifted import RULE


@pytest.mark.parametrize("case", rule_case.cases(RULE.code), ids=lambda case: case.name)
def test_it_says_what_its_fixtures_expect(case: RuleCase) -> None:
    rule_case.hold(RULE, case)


def test_each_group_of_equal_cpus_is_judged_for_itself() -> None:
    hosts = {
        "lab/a1": "broadwell",
        "lab/a2": {"like": "broadwell", "without": "rtm"},
        "lab/b1": "rome",
        "lab/b2": {"like": "rome", "without": "clzero"},
    }
    found = judge(rule_case.inventory(hosts, []), [RULE]).findings
    assert sorted(finding.problem.flags for finding in found) == [("clzero",), ("rtm",)]


def test_nodes_of_different_clusters_are_not_compared() -> None:
    hosts = {"a/one": "broadwell", "b/one": {"like": "broadwell", "without": "rtm"}}
    assert judge(rule_case.inventory(hosts, []), [RULE]).findings == ()


def test_a_guest_of_type_host_elsewhere_does_not_count() -> None:
    hosts = {
        "lab/one": "broadwell",
        "lab/two": {"like": "broadwell", "without": "rtm"},
        "lab/far": "nehalem",
    }
    inventory = rule_case.inventory(hosts, [{"cpu": "host", "host": "lab/far"}])
    (finding,) = judge(inventory, [RULE]).findings
    assert finding.problem.severity.word == "low"
