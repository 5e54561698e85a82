"""CPU013 against its fixtures, and all that the other rules do not say of such machines."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from support import rule_case
from support.rule_case import RuleCase
from unmask import plugins
from unmask.cpu import shown_name
from unmask.dialects import cpuinfo
from unmask.engine.cases import guest_cases
from unmask.engine.run import judge
from unmask.model.cpu import Accelerator
from unmask.model.finding import Rule
from unmask.model.inside import Inside
from unmask.model.inventory import Inventory
from unmask.model.reading import Known
from unmask.model.visit import Visit, Way
from unmask.rules.cpu013_rented_machine_without_aes import RULE

CORPUS = Path(__file__).parents[3] / "shared" / "corpus"
SEEN_BY_OTHERS = {
    "cpu-001-pve-kvm64-intel.txt": "aes pclmulqdq",
    "cpu-002-kvm64-amd.txt": "aes pclmulqdq",
    "cpu-003-kvm64-20cores-lastblock.txt": "aes pclmulqdq",
    "cpu-005-lscpu-epyc-rome-guest.txt": "",
    "cpu-006-epyc-ibpb-guest.txt": "",
    "cpu-010-bairuo-ivybridge-ibrs-flags.txt": "",
    "cpu-011-zhaoxin-zxc-padlock.txt": "",
    "cpu-012-via-eden-netbsd.txt": "aes pclmulqdq",
    "cpu-015-freebsd11-dmesg-g640.txt": "aes",
    "cpu-016-trueos-ryzen7-dmesg.txt": "",
    "cpu-017-pcbsd10-guest-dmesg.txt": "aes pclmulqdq",
    "cpu-019-freebsd-aesni-attached.txt": "not known",
    "cpu-020-hetzner-neoverse-n1-guest-lscpu.txt": "",
    "cpu-021-oracle-neoverse-n1-qemu-guest-lscpu.txt": "",
}
"""What public outputs hide. Of a FreeBSD whose aesni(4) has attached no list of flags is there."""
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
    assert shown_name.surely_has_aes(name) is always


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not here")
@pytest.mark.parametrize(("file", "hidden"), SEEN_BY_OTHERS.items())
def test_what_others_have_posted_of_their_machines(file: str, hidden: str) -> None:
    cpu = cpuinfo.parse((CORPUS / file).read_text(encoding="utf-8"))
    machine = rule_case.guest({"platform": "unseen", "host": "", "arch": cpu.arch})
    visit = Visit(Known(Inside(cpu=Known(cpu))), Way.SSH, "root@machine")
    shown = shown_name.spec(cpu, Accelerator.KVM)
    inventory = Inventory(guests=(replace(machine, configured=shown, visit=visit),))
    outcome = judge(inventory, [RULE])
    said = [" ".join(finding.problem.flags) for finding in outcome.findings]
    assert said == ([] if hidden in ("", "not known") else [hidden])
    assert bool(outcome.skips) is (hidden == "not known")
