"""CPU006 against its fixtures, and one finding for several reasons."""

from __future__ import annotations

import pytest

from support import rule_case
from support.rule_case import RuleCase
from unmask.engine.run import judge
from unmask.rules.cpu006_configured_cpu_not_used import RULE


@pytest.mark.parametrize("case", rule_case.cases(RULE.code), ids=lambda case: case.name)
def test_it_says_what_its_fixtures_expect(case: RuleCase) -> None:
    rule_case.hold(RULE, case)


def test_several_reasons_make_one_finding() -> None:
    remarks = [["custom-missing", "nas is not defined."], ["cpu-dropped", "The line is dropped."]]
    guest = {"cpu": {"like": "default", "remarks": remarks}, "remarks": [remarks[1]]}
    (finding,) = judge(rule_case.inventory({"lab/one": None}, [guest]), [RULE]).findings
    assert finding.problem.evidence == ("nas is not defined.", "The line is dropped.")


def test_a_libvirt_domain_is_not_told_about_the_api() -> None:
    guest = {
        "platform": "libvirt",
        "cpu": {"like": "qemu64", "remarks": [["cpu-dropped", "The element is dropped."]]},
    }
    (finding,) = judge(rule_case.inventory({"lab/one": None}, [guest]), [RULE]).findings
    assert finding.problem.remedy == "Correct the <cpu> element."
