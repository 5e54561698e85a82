"""MIG013 against its fixtures."""

from __future__ import annotations

import pytest

from support import move_case
from support.move_case import MoveFixture
from unmask.rules.mig013_tied_to_its_host import RULE


@pytest.mark.parametrize("case", move_case.cases(RULE.code), ids=lambda case: case.name)
def test_it_says_what_its_fixtures_expect(case: MoveFixture) -> None:
    move_case.hold(RULE, case)
