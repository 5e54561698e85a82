"""REQ001 against its fixtures, and the table of systems."""

from __future__ import annotations

import pytest

from support import rule_case
from support.rule_case import RuleCase
from unmask.cpu import os_levels
from unmask.cpu.levels import LEVELS
from unmask.engine.run import judge
from unmask.rules.req001_level_below_system import RULE


@pytest.mark.parametrize("case", rule_case.cases(RULE.code), ids=lambda case: case.name)
def test_it_says_what_its_fixtures_expect(case: RuleCase) -> None:
    rule_case.hold(RULE, case)


@pytest.mark.parametrize(
    ("declared", "level"),
    [
        ("http://redhat.com/rhel/9.0", 2),
        ("http://redhat.com/rhel/10.1", 3),
        ("http://centos.org/centos-stream/9", 2),
        ("http://oracle.com/ol/10.0", 3),
        ("http://rockylinux.org/rocky/9", 2),
        ("http://opensuse.org/opensuse/16.0", 2),
        ("http://suse.com/sle/16.0", 2),
        ("http://microsoft.com/win/2k25", 2),
        ("win11", 2),
    ],
)
def test_systems_and_their_levels(declared: str, level: int) -> None:
    need = os_levels.need(declared)
    assert need is not None
    assert need.level == level
    assert need.flags <= LEVELS[level]
    assert need.origin


@pytest.mark.parametrize(
    "declared",
    ["", "l26", "win10", "other", "http://redhat.com/rhel/90", "http://redhat.com/rhel/8.10", "9"],
)
def test_systems_of_which_nothing_is_known(declared: str) -> None:
    assert os_levels.need(declared) is None


def test_what_it_suggests_is_enough() -> None:
    for number, host in enumerate(("broadwell", "rome")):
        guest = {"os": "win11", "subject": f"lab/{number}"}
        (finding,) = judge(rule_case.inventory({"lab/one": host}, [guest]), [RULE]).findings
        cured = {**guest, "cpu": finding.problem.command.split()[-1]}
        assert judge(rule_case.inventory({"lab/one": host}, [cured]), [RULE]).findings == ()


def test_a_host_without_aes_gets_a_model_without_it() -> None:
    guest = {"os": "win11"}
    (finding,) = judge(rule_case.inventory({"lab/one": "nehalem"}, [guest]), [RULE]).findings
    assert finding.problem.command == "qm set 101 --cpu x86-64-v2"
