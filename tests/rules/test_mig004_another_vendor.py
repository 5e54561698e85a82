"""MIG004 against its fixtures, and vendors that a configuration asks for."""

from __future__ import annotations

import pytest

from support import move_case
from support.move_case import MoveFixture
from unmask.engine import moves
from unmask.rules.mig004_another_vendor import RULE


@pytest.mark.parametrize("case", move_case.cases(RULE.code), ids=lambda case: case.name)
def test_it_says_what_its_fixtures_expect(case: MoveFixture) -> None:
    move_case.hold(RULE, case)


def test_a_vendor_that_the_configuration_asks_for_is_needed_to_start() -> None:
    guest = {
        "host": "one",
        "platform": "libvirt",
        "state": "stopped",
        "cpu": "kvm64",
        "properties": {"required-vendor": "GenuineIntel"},
    }
    for target, answer in (("cascadelake", "possible"), ("rome", "blocked")):
        hosts = {"one": "broadwell", "two": target}
        read = move_case.on_libvirt(move_case.inventory(hosts, [guest]))
        (move,) = moves.moves(read, [RULE], moves.Asked())
        assert move.cold == answer
