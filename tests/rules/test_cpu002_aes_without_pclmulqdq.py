"""CPU002 against its fixtures, and held to the catalogue's partial models."""

from __future__ import annotations

import pytest

from support import rule_case
from support.rule_case import RuleCase
from unmask.cpu import catalogue
from unmask.cpu.catalogue import CpuModel
from unmask.engine.cases import guest_cases
from unmask.engine.run import judge
from unmask.rules.cpu002_aes_without_pclmulqdq import RULE


@pytest.mark.parametrize("case", rule_case.cases(RULE.code), ids=lambda case: case.name)
def test_it_says_what_its_fixtures_expect(case: RuleCase) -> None:
    rule_case.hold(RULE, case)


def test_no_named_model_of_qemu_fires_and_three_of_proxmox_do() -> None:
    """Truth report 0.1: only Proxmox's own levels show AES without PCLMULQDQ."""
    everything = " ".join(sorted(set().union(*(model.flags for model in models()))))
    host = {"like": "broadwell", "with": everything}
    names = [*catalogue.names(), *catalogue.proxmox_names()]
    guests = [{"subject": f"lab/{name}", "cpu": name} for name in names]
    found = judge(rule_case.inventory({"lab/one": host}, guests), [RULE]).findings
    assert {finding.subject for finding in found} == {
        "lab/x86-64-v2-AES",
        "lab/x86-64-v3",
        "lab/x86-64-v4",
    }


def models() -> list[CpuModel]:
    """Return every model of the catalogue."""
    return [model for name in catalogue.names() if (model := catalogue.find(name))]


def test_the_advice_cures_it() -> None:
    for name in ("x86-64-v2-AES", "x86-64-v3", "x86-64-v4"):
        inventory = rule_case.inventory({"lab/one": "cascadelake"}, [{"cpu": name}])
        (finding,) = judge(inventory, [RULE]).findings
        model = finding.problem.command.split()[-1]
        cured = rule_case.inventory({"lab/one": "cascadelake"}, [{"cpu": model}])
        before, after = guest_cases(inventory)[0].view, guest_cases(cured)[0].view
        assert judge(cured, [RULE]).findings == ()
        assert (after.level or 0) >= (before.level or 0) > 0
