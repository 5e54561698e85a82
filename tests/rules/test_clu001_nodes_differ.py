"""CLU001 against its fixtures, and clusters of many nodes."""

from __future__ import annotations

import pytest

from support import rule_case
from support.rule_case import RuleCase
from unmask.engine.run import judge
from unmask.rules.clu001_nodes_differ import RULE


@pytest.mark.parametrize("case", rule_case.cases(RULE.code), ids=lambda case: case.name)
def test_it_says_what_its_fixtures_expect(case: RuleCase) -> None:
    rule_case.hold(RULE, case)


def test_equal_nodes_are_named_together() -> None:
    hosts = {f"lab/n{number}": "broadwell" for number in range(1, 4)}
    hosts |= {"lab/n4": "cascadelake"}
    (finding,) = judge(rule_case.inventory(hosts, []), [RULE]).findings
    assert finding.problem.evidence[0].startswith("n1, n2 and n3 lack avx512bw")
    assert finding.problem.evidence[1] == "n4 lacks none of these flags."
    assert finding.host == ""


def test_each_cluster_is_judged_for_itself() -> None:
    hosts = {"a/one": "broadwell", "b/one": "cascadelake", "b/two": "cascadelake"}
    assert judge(rule_case.inventory(hosts, []), [RULE]).findings == ()
