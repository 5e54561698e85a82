"""`unmask audit` of a real libvirtd: stopped guests of many kinds, and running witnesses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support.cpuinfo_guest import flags, wait_for
from support.domain_xml import Cpu, document, staying_probe
from support.guest_image import GuestImage
from support.libvirtd import PREFIX, Libvirtd
from support.unmask_command import Answer, audit

WESTMERE = "<cpu mode='custom' match='exact'><model>Westmere</model></cpu>"

STOPPED = {
    "no-cpu": Cpu(),
    "old-form": Cpu("<cpu match='exact'><model>Westmere</model></cpu>"),
    "host-model": Cpu("<cpu mode='host-model'/>"),
    "minus": Cpu(
        "<cpu mode='custom'><model>Westmere</model><feature policy='disable' name='pclmuldq'/>"
        "</cpu>"
    ),
    "no-such-model": Cpu("<cpu mode='custom'><model>NoSuchCPU</model></cpu>"),
    "commandline": Cpu(option="Haswell"),
}
"""Domains that are only defined."""

RUNNING = {
    "runs-no-cpu": Cpu(),
    "runs-old-form": Cpu("<cpu match='exact'><model>Haswell</model></cpu>"),
    "runs-host-model": Cpu("<cpu mode='host-model'/>"),
    "runs-plus": Cpu(
        "<cpu mode='custom'><model>qemu64</model><feature policy='require' name='aes'/>"
        "<feature policy='require' name='ssse3'/><feature policy='require' name='sse4.1'/>"
        "<feature policy='force' name='pclmuldq'/><feature policy='optional' name='avx512f'/></cpu>"
    ),
    "runs-minus": Cpu(
        "<cpu mode='custom'><model>EPYC</model><feature policy='disable' name='aes'/>"
        "<feature policy='forbid' name='avx2'/></cpu>"
    ),
    "runs-commandline": Cpu(option="Westmere,-aes"),
    "runs-maximum": Cpu("<cpu mode='maximum'/>"),
    "runs-pending": Cpu(WESTMERE),
}
"""Domains that run the probe."""

KERNEL_MADE = frozenset({"ssbd"})
"""Reported flags that a kernel shows without a CPUID bit: it switches older AMDs by an MSR."""


@dataclass(frozen=True, slots=True)
class Site:
    """The daemon with all these domains, and what each running guest says about itself."""

    libvirtd: Libvirtd
    inside: dict[str, frozenset[str]]
    answer: Answer


@pytest.fixture(scope="module")
def site(libvirtd: Libvirtd, guest_image: GuestImage) -> Iterator[Site]:
    libvirtd.define(*(document(PREFIX + label, cpu) for label, cpu in STOPPED.items()))
    evidence = {label: libvirtd.directory / "guests" / label for label in RUNNING}
    boots = {
        label: staying_probe(guest_image, path.with_suffix(".console"), path)
        for label, path in evidence.items()
    }
    libvirtd.define(*(document(PREFIX + label, RUNNING[label], boots[label]) for label in RUNNING))
    for label in RUNNING:
        libvirtd.virsh("start", PREFIX + label)
    inside = {label: flags(wait_for(path)) for label, path in evidence.items()}
    uuid = libvirtd.virsh("domuuid", PREFIX + "runs-pending").strip()
    changed = document(PREFIX + "runs-pending", Cpu(), boots["runs-pending"])
    libvirtd.define(changed.replace("<memory ", f"<uuid>{uuid}</uuid><memory "))
    yield Site(libvirtd, inside, audit(libvirtd.uri))
    libvirtd.remove_domains()


def features(site: Site, label: str) -> dict[str, str]:
    found: dict[str, str] = site.answer.guests[PREFIX + label]["cpu"]["features"]
    return found


def test_every_domain_is_listed_with_its_state(site: Site) -> None:
    assert site.answer.code == 0
    states = {name: guest["state"] for name, guest in site.answer.guests.items()}
    expected = {PREFIX + label: "stopped" for label in STOPPED}
    assert states == expected | {PREFIX + label: "running" for label in RUNNING}
    assert {guest["cpu"]["accelerator"] for guest in site.answer.guests.values()} == {"tcg"}


@pytest.mark.parametrize("label", RUNNING)
def test_running_guest_confirms_the_report(label: str, site: Site) -> None:
    reported = features(site, label)
    assert {"aes", "pclmulqdq", "avx2"} <= set(reported)
    shown = {flag for flag, state in reported.items() if state == "shown"}
    hidden = {flag for flag, state in reported.items() if state == "hidden"}
    assert shown <= site.inside[label]
    assert not hidden & site.inside[label] - KERNEL_MADE
    if label != "runs-maximum":  # what it is depends on the version of QEMU
        assert shown | hidden == set(reported)


@pytest.mark.parametrize(
    ("label", "aes", "pclmulqdq"),
    [
        ("no-cpu", "hidden", "hidden"),
        ("old-form", "shown", "shown"),
        ("host-model", "shown", "shown"),
        ("minus", "shown", "hidden"),
        ("commandline", "shown", "shown"),
        ("no-such-model", "unknown", "unknown"),
    ],
)
def test_stopped_guest_is_resolved(label: str, aes: str, pclmulqdq: str, site: Site) -> None:
    reported = features(site, label)
    assert (reported["aes"], reported["pclmulqdq"]) == (aes, pclmulqdq)


@pytest.mark.parametrize("label", ["host-model", "no-cpu", "old-form"])
def test_stopped_guest_sees_what_a_running_one_sees(
    label: str, site: Site, guest_image: GuestImage
) -> None:
    """What the report foretells comes true: start the domain with the probe and ask it."""
    before = features(site, label)
    name = f"{PREFIX}told-{label}"
    evidence = site.libvirtd.directory / "guests" / name
    boot = staying_probe(guest_image, evidence.with_suffix(".console"), evidence)
    site.libvirtd.define(document(name, STOPPED[label], boot))
    try:
        site.libvirtd.virsh("start", name)
        inside = flags(wait_for(evidence))
        shown = {flag for flag, state in before.items() if state == "shown"}
        assert shown == inside & set(before) - KERNEL_MADE
    finally:
        site.libvirtd.virsh("destroy", name)
        site.libvirtd.virsh("undefine", name)


def test_commandline_overrides_the_model(site: Site) -> None:
    for label in ("commandline", "runs-commandline"):
        assert "CPU003" in site.answer.codes(PREFIX + label)
    assert site.answer.guests[PREFIX + "commandline"]["cpu"]["origin"] == "args"
    assert "CPU003" not in site.answer.codes(PREFIX + "old-form")


def test_change_that_waits_for_a_restart_is_pending(site: Site) -> None:
    cpu = site.answer.guests[PREFIX + "runs-pending"]["cpu"]
    assert cpu["features"]["aes"] == "shown"
    assert cpu["after_restart"]["features"]["aes"] == "hidden"
    assert "CPU009" in site.answer.codes(PREFIX + "runs-pending")
    others = set(site.answer.guests) - {PREFIX + "runs-pending"}
    assert [name for name in others if site.answer.guests[name]["cpu"]["pending"]] == []


def test_saved_inventory_gives_the_same_report(site: Site, tmp_path: Path) -> None:
    live = audit(site.libvirtd.uri, "--save", "saved.json", directory=tmp_path).report
    again = audit("saved.json", directory=tmp_path).report
    for part in ("hosts", "guests", "findings", "skips", "gaps"):
        assert again[part] == live[part]
    assert live["findings"]


def placeless(answer: Answer) -> dict[str, Any]:
    """Return the guests without the address that they were read from."""
    return {name: {**guest, "location": ""} for name, guest in answer.guests.items()}


def test_plain_system_uri_and_no_target_are_this_host(site: Site, tmp_path: Path) -> None:
    through = tuple(site.libvirtd.inside("env", f"--chdir={tmp_path}"))
    expected = placeless(site.answer)
    assert placeless(audit("qemu:///system", through=through)) == expected
    if Path("/etc/pve").exists():
        pytest.skip("this machine is a Proxmox VE node: without a target it audits itself")
    assert placeless(audit(through=through)) == expected
