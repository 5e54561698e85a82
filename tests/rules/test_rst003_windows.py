"""RST003 against its fixtures."""

from __future__ import annotations

import pytest

from support import change_case
from support.change_case import ChangeFixture
from unmask.rules.rst003_windows import RULE


@pytest.mark.parametrize("case", change_case.cases(RULE.code), ids=lambda case: case.name)
def test_it_says_what_its_fixtures_expect(case: ChangeFixture) -> None:
    change_case.hold(RULE, case)
