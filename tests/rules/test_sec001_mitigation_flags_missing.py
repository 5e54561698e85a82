"""SEC001 against its fixtures, and no noise on models that carry the flags."""

from __future__ import annotations

import pytest

from support import rule_case
from support.rule_case import RuleCase
from unmask.cpu import catalogue
from unmask.cpu.features import flags_of
from unmask.engine.run import judge
from unmask.rules.sec001_mitigation_flags_missing import RULE


@pytest.mark.parametrize("case", rule_case.cases(RULE.code), ids=lambda case: case.name)
def test_it_says_what_its_fixtures_expect(case: RuleCase) -> None:
    rule_case.hold(RULE, case)


def test_the_flags_of_its_command_cure_it_and_proxmox_allows_them() -> None:
    for host in ("broadwell", "cascadelake", "rome"):
        inventory = rule_case.inventory({"lab/one": host}, [{"cpu": "x86-64-v2-AES"}])
        (finding,) = judge(inventory, [RULE]).findings
        asked = finding.problem.command.rpartition("flags=")[2].strip("'").split(";")
        assert {flag[1:] for flag in asked} <= catalogue.proxmox_vm_flags("8.4")
        on = " ".join(sorted(set().union(*(flags_of(flag[1:]) for flag in asked))))
        cured = rule_case.inventory(
            {"lab/one": host}, [{"cpu": {"like": "x86-64-v2-AES", "on": on}}]
        )
        assert judge(cured, [RULE]).findings == ()


def test_no_intel_flag_is_asked_for_on_amd_whatever_the_model() -> None:
    names = [*catalogue.names(), *catalogue.proxmox_names()]
    guests = [{"subject": f"lab/{name}", "cpu": name} for name in names]
    found = judge(rule_case.inventory({"lab/one": "rome"}, guests), [RULE]).findings
    assert found
    for finding in found:
        assert set(finding.problem.flags) <= {"ibpb", "amd-ssbd"}, finding


def test_ibrs_models_are_not_asked_for_spec_ctrl() -> None:
    names = [name for name in catalogue.names() if name.endswith("-IBRS")]
    assert len(names) > 5
    guests = [{"subject": f"lab/{name}", "cpu": name} for name in names]
    for finding in judge(rule_case.inventory({"lab/one": "broadwell"}, guests), [RULE]).findings:
        assert "spec-ctrl" not in finding.problem.flags, finding
