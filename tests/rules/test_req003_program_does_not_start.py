"""REQ003 against its fixtures."""

from __future__ import annotations

import pytest

from support import rule_case
from support.rule_case import RuleCase
from unmask.rules.req003_program_does_not_start import RULE


@pytest.mark.parametrize("case", rule_case.cases(RULE.code), ids=lambda case: case.name)
def test_it_says_what_its_fixtures_expect(case: RuleCase) -> None:
    rule_case.hold(RULE, case)
