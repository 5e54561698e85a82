"""CPU007 against its fixtures, and every name that Proxmox VE maps."""

from __future__ import annotations

import pytest

from support import rule_case
from support.rule_case import RuleCase
from unmask.cpu.catalogue import proxmox_deprecated
from unmask.engine.run import judge
from unmask.rules.cpu007_deprecated_model import RULE


@pytest.mark.parametrize("case", rule_case.cases(RULE.code), ids=lambda case: case.name)
def test_it_says_what_its_fixtures_expect(case: RuleCase) -> None:
    rule_case.hold(RULE, case)


def test_what_it_suggests_is_itself_no_deprecated_name() -> None:
    old = [name for name in ("Icelake-Client", "Icelake-Client-noTSX") if proxmox_deprecated(name)]
    assert old
    for name in old:
        (finding,) = judge(rule_case.inventory({"lab/one": None}, [{"cpu": name}]), [RULE]).findings
        replacement = finding.problem.command.split()[-1]
        assert proxmox_deprecated(replacement) is None
        assert (
            judge(rule_case.inventory({"lab/one": None}, [{"cpu": replacement}]), [RULE]).findings
            == ()
        )


def test_a_pending_change_that_renames_it_is_enough() -> None:
    guest = {"cpu": "Icelake-Client", "pending": "Icelake-Server"}
    assert judge(rule_case.inventory({"lab/one": None}, [guest]), [RULE]).findings == ()
