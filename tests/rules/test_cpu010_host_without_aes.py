"""CPU010 against its fixtures, one finding a host."""

from __future__ import annotations

import pytest

from support import rule_case
from support.rule_case import RuleCase
from unmask.engine.run import judge
from unmask.rules.cpu010_host_without_aes import RULE


@pytest.mark.parametrize("case", rule_case.cases(RULE.code), ids=lambda case: case.name)
def test_it_says_what_its_fixtures_expect(case: RuleCase) -> None:
    rule_case.hold(RULE, case)


def test_one_finding_a_host_however_many_guests_it_has() -> None:
    guests = [{"subject": f"lab/{number}"} for number in range(4)]
    hosts = {"lab/one": "nehalem", "lab/two": "nehalem", "lab/three": "broadwell"}
    found = judge(rule_case.inventory(hosts, guests), [RULE]).findings
    assert [(finding.subject, finding.name, finding.host) for finding in found] == [
        ("lab/one", "one", "lab/one"),
        ("lab/two", "two", "lab/two"),
    ]
