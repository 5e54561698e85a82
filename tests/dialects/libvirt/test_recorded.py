"""Recorded answers of libvirt 9.0 and what the guests themselves printed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from unmask.cpu.resolve import resolve
from unmask.dialects.libvirt import capabilities, domain, xml
from unmask.dialects.libvirt.guest import Forms, guest
from unmask.model.cpu import FeatureView, HypervisorCpu, RemarkKind, State
from unmask.model.inventory import GuestState
from unmask.model.reading import Missing

RECORDED = Path(__file__).parents[4] / "shared" / "libvirt" / "recorded"

pytestmark = pytest.mark.skipif(
    not RECORDED.is_dir(), reason="the recordings are not beside the project"
)

QEMU = "xmlns:qemu='http://libvirt.org/schemas/domain/qemu/1.0'"
MAX = "<qemu:commandline><qemu:arg value='-cpu'/><qemu:arg value='max'/></qemu:commandline>"

KERNEL_MADE = frozenset(
    {
        "3dnowprefetch", "constant_tsc", "cpuid", "extd_apicid", "nopl", "ospke", "pti",
        "rep_good", "ssbd", "vmmcall", "xtopology",
    }
)  # fmt: skip
"""Flags that a kernel shows although no CPUID bit of the guest's says so."""

NEVER_PRINTED = frozenset({"pcommit", "pks", "svme-addr-chk"})
"""CPUID bits that libvirt lists and for which that kernel prints no word."""

NEEDS_HOST = frozenset({"check-partial", "model-host-model"})
"""Cases that fail for what this host lacks, or for a check that QEMU makes."""
BESIDE = frozenset({"children"})
"""Refused for its cache, which has nothing to do with flags."""
CHECKED_AFTER_START = frozenset({"check-full", "qemu64-full"})


def lines(name: str) -> list[dict[str, Any]]:
    path = RECORDED / name
    if not path.is_file():
        return []
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


def read(cpu: str, attributes: str = "") -> domain.Domain:
    os = "<os><type arch='x86_64' machine='pc'>hvm</type></os>"
    text = f"<domain type='qemu' {attributes} {QEMU}><name>x</name>{os}{cpu}</domain>"
    return domain.read(xml.parse(text, "a recording"), models=offered().models)


def offered() -> capabilities.DomainCapabilities:
    text = (RECORDED / "caps" / "domcaps-None-x86_64-pc-qemu.xml").read_text()
    return capabilities.domain(xml.parse(text, "a recording"))


def offers() -> tuple[HypervisorCpu, ...]:
    return (offered().cpu,)


def view(found: domain.Domain) -> FeatureView:
    missing = Missing("not needed under emulation")
    return resolve(found.cpu, found.arch, found.accelerator, missing, offers())


def shown(found: domain.Domain) -> set[str]:
    return {flag for flag, state in view(found).states.items() if state is State.SHOWN}


GUESTS = {item["case"]: item for item in lines("guest_flags.jsonl") if item["guest_flags"]}


@pytest.mark.parametrize("case", GUESTS)
@pytest.mark.parametrize("form", ["live_cpu", "cpu_in"])
def test_flags_are_those_that_the_guest_printed(case: str, form: str) -> None:
    """From the running XML, and foretold from the configuration alone."""
    live = form == "live_cpu"
    foretold = shown(read(GUESTS[case][form], "id='1'" if live else ""))
    printed = set(GUESTS[case]["guest_flags"])
    assert foretold - printed <= NEVER_PRINTED
    assert printed - foretold <= KERNEL_MADE


MATRIX = {item["case"]: item for item in lines("define_matrix.jsonl")}
STARTED = [name for name, item in MATRIX.items() if item.get("start") == "ok"]
FORETOLD = [name for name in STARTED if not MATRIX[name]["qemu_commandline"] and name != "minimum"]


@pytest.mark.parametrize("case", [name for name in MATRIX if name not in BESIDE])
def test_what_does_not_start_is_said(case: str) -> None:
    item = MATRIX[case]
    raw = MAX if item["qemu_commandline"] else ""
    said = read(item["cpu_in"] + raw).cpu
    fails = item["define"] != "ok" or item.get("start") != "ok"
    if case in NEEDS_HOST or case in CHECKED_AFTER_START:
        assert fails
        assert said.enforced
        return
    remarks = said.remarked(RemarkKind.NO_START) + said.remarked(RemarkKind.UNRESOLVED)
    assert bool(remarks) is fails


@pytest.mark.parametrize("case", STARTED)
def test_live_configured_and_started_forms_agree(case: str) -> None:
    """Nothing waits for a restart in a domain that was just started."""
    item = MATRIX[case]
    raw = MAX if item["qemu_commandline"] else ""
    running = item["running"]
    live = running["live"]
    same = {"(same)": live}
    inactive = same.get(running["INACTIVE"], running["INACTIVE"])
    started = same.get(running["MIGRATABLE"], running["MIGRATABLE"])
    for asked in (read(started + raw, "id='1'"), None):
        forms = Forms(live=read(live + raw, "id='1'"), inactive=read(inactive + raw), started=asked)
        found = guest(forms, "host", GuestState.RUNNING, offers())
        assert found.pending is None, (case, asked is None)


@pytest.mark.parametrize("case", FORETOLD)
def test_configuration_foretells_the_running_guest(case: str) -> None:
    item = MATRIX[case]
    expected = shown(read(item["running"]["live"], "id='1'"))
    foretold = shown(read(item["running"]["INACTIVE"].replace("(same)", item["running"]["live"])))
    assert foretold ^ expected <= NEVER_PRINTED
