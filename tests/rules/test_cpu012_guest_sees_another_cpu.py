"""CPU012 against its fixtures, and against booted guests, of which it must say nothing."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from support import rule_case
from support.rule_case import RuleCase
from unmask.dialects import cpuinfo
from unmask.dialects.qemu import spec_of
from unmask.engine.cases import guest_cases
from unmask.engine.run import judge
from unmask.model.cpu import Accelerator, HostCpu, Origin
from unmask.model.finding import Problem
from unmask.model.inside import Inside, KernelCrypto, System
from unmask.model.inventory import Inventory
from unmask.model.reading import Known
from unmask.model.visit import Visit, Way
from unmask.rules.cpu012_guest_sees_another_cpu import RULE

GUESTS = Path(__file__).parents[3] / "shared" / "guests"
BOOTED = sorted(path.parent for path in GUESTS.glob("*/*/qemu_cpu.txt"))
HIDDEN = {"masked.kvmlike": ("aes", "pclmulqdq"), "x86-64-v2-AES.kvmlike": ("pclmulqdq",)}
"""What the kernels of these boots were told to overlook."""
KERNELS = {"bookworm": "6.1.0-50-cloud-amd64", "trixie": "6.12.117+deb13-cloud-amd64"}


@pytest.mark.parametrize("case", rule_case.cases(RULE.code), ids=lambda case: case.name)
def test_it_says_what_its_fixtures_expect(case: RuleCase) -> None:
    rule_case.hold(RULE, case)


def said(folder: Path, qemu: str, option: str = "") -> tuple[Problem, ...]:
    """Return what is said of a recorded guest, held against its own `-cpu` or another one."""
    own = (folder / "qemu_cpu.txt").read_text(encoding="utf-8").split()[0]
    cmdline = folder / "proc_cmdline.txt"
    line = cmdline.read_text(encoding="utf-8") if cmdline.is_file() else ""
    inside = Inside(
        system=Known(System("Linux", kernel=KERNELS[folder.parent.name])),
        cpu=Known(cpuinfo.parse((folder / "cpuinfo.txt").read_text(encoding="utf-8"))),
        kernel_crypto=Known(KernelCrypto(parameters=tuple(re.findall(r"clearcpuid=\S+", line)))),
    )
    spec = spec_of(option or own, Origin.LIVE)
    guest = replace(
        rule_case.guest({"accelerator": Accelerator.TCG}),
        configured=spec,
        running=spec,
        visit=Visit(Known(inside), Way.AGENT, "the guest agent"),
    )
    host = rule_case.host("lab/one", None)
    host = replace(host, software=replace(host.software, qemu=qemu))
    inventory = Inventory(hosts=(host,), guests=(guest,))
    outcome = judge(inventory, [RULE], guest_cases(inventory))
    assert outcome.skips == ()
    return tuple(finding.problem for finding in outcome.findings)


@pytest.mark.skipif(not BOOTED, reason="the recordings of booted guests are not here")
@pytest.mark.parametrize("qemu", ["", "7.2.22"])
@pytest.mark.parametrize("folder", BOOTED, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_nothing_is_said_of_guests_that_see_what_they_were_given(folder: Path, qemu: str) -> None:
    if not (folder / "cpuinfo.txt").is_file():
        pytest.skip("this guest did not boot")
    found = said(folder, qemu)
    hidden = HIDDEN.get(folder.name, ())
    assert [problem.flags for problem in found] == ([hidden] if hidden else [])
    assert all("told to overlook" in problem.message for problem in found)


@pytest.mark.skipif(not BOOTED, reason="the recordings of booted guests are not here")
@pytest.mark.parametrize("folder", BOOTED, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_any_other_model_is_noticed(folder: Path) -> None:
    if not (folder / "cpuinfo.txt").is_file():
        pytest.skip("this guest did not boot")
    own = (folder / "qemu_cpu.txt").read_text(encoding="utf-8").split()[0]
    other = "Nehalem" if own in ("qemu64", "kvm64") or "aes" in own else "qemu64"
    assert any("overlook" not in problem.message for problem in said(folder, "7.2.22", other))


def test_a_guest_that_tells_of_an_architecture_which_it_cannot_have_is_not_believed() -> None:
    told = HostCpu("aarch64", frozenset({"asimd", "aes", "pmull"}), "ARM")
    spec = spec_of("kvm64", Origin.LIVE)
    guest = replace(
        rule_case.guest({}),
        configured=spec,
        visit=Visit(Known(Inside(cpu=Known(told))), Way.AGENT, "the guest agent"),
    )
    inventory = Inventory(guests=(guest,))
    (case,) = guest_cases(inventory)
    assert case.observed is None
    (finding,) = judge(inventory, [RULE], (case,)).findings
    assert "tells of aarch64, which a guest of x86_64 cannot have" in finding.problem.message
