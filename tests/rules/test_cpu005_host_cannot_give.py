"""CPU005 against its fixtures, and many nodes."""

from __future__ import annotations

import pytest

from support import rule_case
from support.rule_case import RuleCase
from unmask.engine.run import judge
from unmask.rules.cpu005_host_cannot_give import RULE


@pytest.mark.parametrize("case", rule_case.cases(RULE.code), ids=lambda case: case.name)
def test_it_says_what_its_fixtures_expect(case: RuleCase) -> None:
    rule_case.hold(RULE, case)


def test_it_names_every_node_and_only_those_that_cannot() -> None:
    hosts = {f"lab/n{number}": "cascadelake" for number in range(6)} | {"lab/old": "broadwell"}
    guests = [
        {"subject": f"lab/{number}", "host": f"lab/n{number}", "cpu": "Skylake-Server-noTSX-IBRS"}
        for number in range(6)
    ]
    found = judge(rule_case.inventory(hosts, guests), [RULE]).findings
    assert len(found) == 6
    for finding in found:
        assert finding.problem.message.endswith("cannot be run in full on old")


def test_equal_inventories_give_equal_answers_though_answers_are_kept() -> None:
    first = rule_case.inventory(
        {"lab/one": "cascadelake", "lab/two": "broadwell"}, [{"cpu": "x86-64-v4"}]
    )
    second = rule_case.inventory(
        {"lab/one": "cascadelake", "lab/two": "cascadelake"}, [{"cpu": "x86-64-v4"}]
    )
    for _ in range(2):
        assert len(judge(first, [RULE]).findings) == 1
        assert judge(second, [RULE]).findings == ()


def test_a_clusterless_host_has_no_peers() -> None:
    inventory = rule_case.inventory({"solo": "broadwell"}, [{"host": "solo", "cpu": "x86-64-v3"}])
    assert judge(inventory, [RULE]).findings == ()
