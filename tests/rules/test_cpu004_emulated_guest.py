"""CPU004 against its fixtures, and the models that are dangerous under TCG."""

from __future__ import annotations

import pytest

from support import rule_case
from support.rule_case import RuleCase
from unmask import plugins
from unmask.engine.run import judge
from unmask.model.finding import Rule, Severity
from unmask.rules.cpu004_emulated_guest import RULE


@pytest.mark.parametrize("case", rule_case.cases(RULE.code), ids=lambda case: case.name)
def test_it_says_what_its_fixtures_expect(case: RuleCase) -> None:
    rule_case.hold(RULE, case)


@pytest.mark.parametrize("name", ["qemu64", "kvm64", "Westmere", "Haswell", "EPYC", "max"])
def test_models_that_boot_under_tcg_are_not_called_dangerous(name: str) -> None:
    guest = {"accelerator": "tcg", "cpu": name}
    (finding,) = judge(rule_case.inventory({"lab/one": "broadwell"}, [guest]), [RULE]).findings
    assert finding.problem.severity is Severity.MEDIUM, finding


@pytest.mark.parametrize("name", ["x86-64-v2-AES", "x86-64-v3", "x86-64-v4"])
def test_the_levels_of_proxmox_are(name: str) -> None:
    guest = {"accelerator": "tcg", "cpu": name}
    (finding,) = judge(rule_case.inventory({"lab/one": "broadwell"}, [guest]), [RULE]).findings
    assert finding.problem.severity is Severity.HIGH, finding


def test_other_rules_on_models_stay_silent_for_emulated_guests() -> None:
    rules = [
        rule
        for rule in plugins.load("unmask.rules", "RULE", Rule)
        if rule.code in ("CPU001", "CPU002", "CPU005", "CPU008", "SEC001")
    ]
    assert len(rules) == 5
    guests = [
        {"subject": f"lab/{name}", "accelerator": "tcg", "cpu": name}
        for name in ("kvm64", "x86-64-v2-AES", "x86-64-v4", "Haswell")
    ]
    outcome = judge(rule_case.inventory({"lab/one": "nehalem"}, guests), rules)
    assert outcome.findings == ()
    assert outcome.skips == ()


def test_a_32_bit_guest_on_a_64_bit_host_could_run_under_kvm() -> None:
    guest = {"accelerator": "tcg", "cpu": "qemu64", "arch": "i686"}
    (finding,) = judge(rule_case.inventory({"lab/one": "broadwell"}, [guest]), [RULE]).findings
    assert finding.problem.severity is Severity.MEDIUM
