"""CPU013 against its fixtures, and all that the other rules do not say of such machines."""

from __future__ import annotations

import pytest

from support import rule_case
from support.rule_case import RuleCase
from unmask import plugins
from unmask.engine.cases import guest_cases
from unmask.engine.run import judge
from unmask.model.finding import Rule
from unmask.rules.cpu013_rented_machine_without_aes import ALWAYS, RULE

RULES = plugins.load("unmask.rules", "RULE", Rule)


@pytest.mark.parametrize("case", rule_case.cases(RULE.code), ids=lambda case: case.name)
def test_it_says_what_its_fixtures_expect(case: RuleCase) -> None:
    rule_case.hold(RULE, case)


@pytest.mark.parametrize("case", rule_case.load(RULE.code, "fires"), ids=lambda case: case.name)
def test_no_rule_on_configurations_speaks_of_such_a_machine(case: RuleCase) -> None:
    outcome = judge(case.inventory, RULES, guest_cases(case.inventory, case.finders))
    codes = {finding.code for finding in outcome.findings if finding.subject == "lab/101"}
    assert {code for code in codes if not code.startswith("CRY")} == {"CPU013"}
    assert [skip for skip in outcome.skips if skip.subject == "lab/101"] == []


@pytest.mark.parametrize(
    ("name", "always"),
    [
        ("Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz", True),
        ("Intel(R) Xeon(R) CPU E3-1230 v2 @ 3.30GHz", True),
        ("Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz", True),
        ("Intel(R) Xeon(R) Platinum 8168 CPU @ 2.70GHz", True),
        ("Intel(R) Xeon(R) CPU D-1541 @ 2.10GHz", True),
        ("AMD EPYC 7702 64-Core Processor", True),
        ("AMD Ryzen 9 5950X 16-Core Processor", True),
        ("Intel(R) Xeon(R) CPU E5520 @ 2.27GHz", False),
        ("Intel(R) Xeon(R) CPU X5450 @ 3.00GHz", False),
        ("Intel(R) Core(TM) i3-540 CPU @ 3.07GHz", False),
        ("AMD Opteron(tm) Processor 6174", False),
    ],
)
def test_names_of_silicon_that_always_has_aes(name: str, always: bool) -> None:  # noqa: FBT001
    assert bool(ALWAYS.search(name)) is always
