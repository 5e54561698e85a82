"""CPU008 against its fixtures, and every model with TSX has an answer."""

from __future__ import annotations

import pytest

from support import rule_case
from support.rule_case import RuleCase
from unmask.cpu import catalogue
from unmask.engine.run import judge
from unmask.rules.cpu005_host_cannot_give import RULE as CPU005
from unmask.rules.cpu008_tsx_model_without_tsx import RULE


@pytest.mark.parametrize("case", rule_case.cases(RULE.code), ids=lambda case: case.name)
def test_it_says_what_its_fixtures_expect(case: RuleCase) -> None:
    rule_case.hold(RULE, case)


TSX = [
    name
    for name in catalogue.names()
    if (model := catalogue.find(name)) and model.flags & {"hle", "rtm"}
]


@pytest.mark.parametrize("name", TSX)
def test_every_model_with_tsx_is_noticed_and_gets_an_answer(name: str) -> None:
    model = catalogue.find(name)
    assert model is not None
    flags = " ".join(sorted(model.flags))
    host = {"like": "cascadelake", "with": flags, "without": "hle rtm"}
    guest = {"cpu": name, "state": "stopped"}
    (finding,) = judge(rule_case.inventory({"lab/one": host}, [guest]), [RULE]).findings
    assert set(finding.problem.flags) == model.flags & {"hle", "rtm"}
    assert "noTSX" in finding.problem.remedy or "Turn hle and rtm off" in finding.problem.remedy


def test_exactly_one_of_this_rule_and_cpu005_speaks() -> None:
    for cpu in (
        "Haswell",
        {"like": "Haswell", "on": "avx512f"},
        {"like": "Westmere", "on": "sha_ni"},
    ):
        inventory = rule_case.inventory(
            {"lab/one": {"like": "cascadelake", "without": "avx512f"}}, [{"cpu": cpu}]
        )
        assert len(judge(inventory, [RULE, CPU005]).findings) == 1, cpu
