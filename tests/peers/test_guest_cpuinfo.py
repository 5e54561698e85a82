"""Guests' own /proc/cpuinfo against the resolver, flag by flag.

The guests run under TCG, so what is proved here is what QEMU makes of a `-cpu` string: models,
added and removed flags, and what TCG cannot give. What silicon adds under KVM is not seen here.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from support import peers
from support.cpuinfo_guest import Cpuinfos, flags
from unmask.cpu.resolve import resolve
from unmask.dialects import cpuinfo
from unmask.dialects.qemu import spec_of
from unmask.model.cpu import Accelerator, FeatureView, Origin, State
from unmask.model.reading import Missing

V2_AES = "qemu64,+aes,+pni,+popcnt,+sse4.1,+sse4.2,+ssse3"
"""What Proxmox makes of x86-64-v2-AES."""
V3 = (
    "qemu64,+abm,+aes,+avx,+avx2,+bmi1,+bmi2,+f16c,+fma,+movbe,+pni,+popcnt,+sse4.1,+sse4.2,+ssse3"
    ",+xsave,+xsaveopt"
)
"""What Proxmox makes of x86-64-v3, and `xsaveopt`, without which Linux hangs under TCG."""

OPTIONS = {
    "kvm64": "kvm64",
    "kvm64-as-proxmox": "kvm64,+lahf_lm,+sep",
    "qemu64": "qemu64",
    "qemu64-aes-alone": "qemu64,+aes",
    "qemu64-aes": "qemu64,+aes,+ssse3,+sse4.1,+pclmulqdq",
    "x86-64-v2-AES": V2_AES,
    "x86-64-v3": V3,
    "Westmere": "Westmere",
    "Westmere-minus": "Westmere,-aes,sse4.2=off",
    "Haswell": "Haswell",
    "EPYC": "EPYC",
    "EPYC-avx512": "EPYC,+avx512f",
}

KERNEL_MADE = {
    "3dnowprefetch": "assumed of every 64-bit AMD",
    "constant_tsc": "follows from the family",
    "cpuid": "there is a CPUID instruction",
    "extd_apicid": "follows from the family",
    "nopl": "there are long no-ops",
    "pti": "page tables are isolated",
    "rep_good": "follows from the family",
    "ssbd": "AMD families 15h to 17h are taken to have the LS_CFG switch",
    "vmmcall": "the hypercall instruction of AMD",
    "xtopology": "the topology leaf was used",
}
"""Words that Linux 6.1 puts into the flags by itself, whatever the CPUID bits say, and why."""

GAINED_BY_TCG = frozenset({"3dnowprefetch", "rdseed", "sha_ni", "x2apic"})
"""Flags of these models that only newer QEMUs emulate: unknown where the version is."""


@pytest.fixture(scope="module")
def guests(cpuinfos: Cpuinfos) -> Cpuinfos:
    cpuinfos.start(OPTIONS)
    return cpuinfos


@pytest.fixture(scope="module")
def qemu_version() -> str:
    """Return the version of the QEMU that runs the guests: "7.2.22"."""
    said = peers.run([peers.program("qemu-system-x86_64"), "--version"]).stdout
    return said.split("version ")[1].split()[0].split("(")[0]


def resolved(option: str, qemu: str = "") -> FeatureView:
    host = Missing("the physical CPU does not matter under emulation")
    return resolve(spec_of(option, Origin.LIVE), "x86_64", Accelerator.TCG, host, qemu=qemu)


def disagreements(view: FeatureView, inside: frozenset[str]) -> set[str]:
    """Return the flags about which the resolver is wrong; what it says not to know is left out."""
    unknown = {flag for flag in view.states if view.state(flag) is State.UNKNOWN}
    shown = {flag for flag in view.states if view.state(flag) is State.SHOWN}
    wrong = shown ^ inside
    return {flag for flag in wrong - unknown if flag in shown or flag not in KERNEL_MADE}


@pytest.mark.parametrize("name", OPTIONS)
def test_guest_sees_what_is_resolved(name: str, guests: Cpuinfos, qemu_version: str) -> None:
    inside = flags(guests[OPTIONS[name]])
    assert disagreements(resolved(OPTIONS[name], qemu_version), inside) == set()


@pytest.mark.parametrize("name", OPTIONS)
def test_only_what_depends_on_the_version_is_unknown(name: str, guests: Cpuinfos) -> None:
    view = resolved(OPTIONS[name])
    assert view.rest is State.HIDDEN
    unknown = {flag for flag in view.states if view.state(flag) is State.UNKNOWN}
    assert unknown <= GAINED_BY_TCG
    assert disagreements(view, flags(guests[OPTIONS[name]])) == set()


@pytest.mark.parametrize("name", OPTIONS)
def test_level_is_what_the_guest_has(name: str, guests: Cpuinfos) -> None:
    levels = {"Haswell": 3, "EPYC": 3, "EPYC-avx512": 3, "x86-64-v3": 3}
    levels |= {"Westmere": 2, "x86-64-v2-AES": 2}
    assert resolved(OPTIONS[name]).level == levels.get(name, 1)
    x86_64_v3 = {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"}
    assert (x86_64_v3 <= flags(guests[OPTIONS[name]])) == (levels.get(name) == 3)


def test_every_single_mistake_would_be_noticed(guests: Cpuinfos) -> None:
    inside = flags(guests[OPTIONS["Westmere"]])
    view = resolved(OPTIONS["Westmere"])
    for flag in [flag for flag in view.states if view.state(flag) is State.SHOWN]:
        hidden = replace(view, states={**view.states, flag: State.HIDDEN})
        assert disagreements(hidden, inside) == {flag}
    added = replace(view, states={**view.states, "avx": State.SHOWN})
    assert disagreements(added, inside) == {"avx"}


def test_lost_flags_do_not_reach_the_guest(guests: Cpuinfos, qemu_version: str) -> None:
    view = resolved(OPTIONS["EPYC-avx512"], qemu_version)
    assert "avx512f" in view.lost
    assert view.hides("avx512f")
    assert "avx512f" not in flags(guests[OPTIONS["EPYC-avx512"]])


@pytest.mark.parametrize(
    ("name", "vendor"),
    [("Westmere", "GenuineIntel"), ("EPYC", "AuthenticAMD"), ("qemu64", "AuthenticAMD")],
)
def test_cpuinfo_of_a_guest_is_read(name: str, vendor: str, guests: Cpuinfos) -> None:
    read = cpuinfo.parse(guests[OPTIONS[name]])
    assert read.flags == flags(guests[OPTIONS[name]])
    assert (read.arch, read.vendor) == ("x86_64", vendor)
    assert resolved(OPTIONS[name]).vendor == vendor
