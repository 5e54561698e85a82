"""MIG016 against its fixtures, and in one voice with the judgement of moves."""

from __future__ import annotations

import pytest

from support import rule_case
from support.rule_case import RuleCase
from unmask.engine import moves
from unmask.engine.run import judge
from unmask.model.move import Answer
from unmask.rules import (
    mig001_target_lacks_enforced_flags,
    mig002_nothing_guards_the_move,
    mig003_flags_taken_by_microcode,
)
from unmask.rules.mig016_nowhere_to_go import RULE

BY_CPU = [
    mig001_target_lacks_enforced_flags.RULE,
    mig002_nothing_guards_the_move.RULE,
    mig003_flags_taken_by_microcode.RULE,
]


@pytest.mark.parametrize("case", rule_case.cases(RULE.code), ids=lambda case: case.name)
def test_it_says_what_its_fixtures_expect(case: RuleCase) -> None:
    rule_case.hold(RULE, case)


@pytest.mark.parametrize("cpu", ["kvm64", "x86-64-v3", "x86-64-v4", "host", "Haswell"])
def test_it_fires_where_no_move_is_left_by_the_cpu(cpu: str) -> None:
    hosts = {"lab/one": "cascadelake", "lab/two": "broadwell", "lab/three": "nehalem"}
    guests = [
        {"subject": f"lab/{number}", "host": host, "cpu": cpu} for number, host in enumerate(hosts)
    ]
    inventory = rule_case.inventory(hosts, guests)
    blocked = {guest.subject for guest in inventory.guests}
    for move in moves.moves(inventory, BY_CPU, moves.Asked()):
        if move.live is not Answer.BLOCKED:
            blocked.discard(move.guest)
    assert {finding.subject for finding in judge(inventory, [RULE]).findings} == blocked


def test_equal_inventories_give_equal_answers_though_answers_are_kept() -> None:
    guests = [{"cpu": "x86-64-v4"}]
    poor = rule_case.inventory({"lab/one": "cascadelake", "lab/two": "broadwell"}, guests)
    rich = rule_case.inventory({"lab/one": "cascadelake", "lab/two": "cascadelake"}, guests)
    for _ in range(2):
        assert len(judge(poor, [RULE]).findings) == 1
        assert judge(rich, [RULE]).findings == ()
