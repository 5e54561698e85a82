"""MIG015 against its fixtures, and images that libvirt keeps."""

from __future__ import annotations

import pytest

from support import move_case
from support.move_case import MoveFixture
from unmask.engine import moves
from unmask.model.move import Answer
from unmask.rules.mig015_stored_states import RULE


@pytest.mark.parametrize("case", move_case.cases(RULE.code), ids=lambda case: case.name)
def test_it_says_what_its_fixtures_expect(case: MoveFixture) -> None:
    move_case.hold(RULE, case)


def test_a_managed_save_image_may_stay_behind() -> None:
    guest = {"host": "one", "platform": "libvirt", "state": "suspended"}
    read = move_case.inventory({"one": "broadwell", "two": "broadwell"}, [guest])
    (move,) = moves.moves(move_case.on_libvirt(read), [RULE], moves.Asked())
    assert move.cold is Answer.UNKNOWN
    assert "managed save image" in move.reasons[0].message
