"""What KVM passes on, held against QEMU's own answers: recorded on silicon, and asked here."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support import catalogue_tool, peers
from support.golden import ROOT
from unmask.cpu import features
from unmask.cpu.passthrough import (
    CONDITIONAL,
    EMULATED,
    KEPT,
    UNPRINTED,
    doubtful,
    gives,
    passed,
)
from unmask.cpu.resolve import resolve
from unmask.model.cpu import Accelerator, CpuSpec, FeatureView, HostCpu, Mode, Origin, State
from unmask.model.reading import Known

RECORDED = json.loads((ROOT / "fixtures/cpu/passthrough.json").read_text(encoding="utf-8"))
MACHINES = [pytest.param(item, id=item["name"].split(" (")[0]) for item in RECORDED["machines"]]


def host_guest(machine: dict[str, Any]) -> FeatureView:
    """Return what a guest of type host sees on a recorded machine."""
    silicon = HostCpu("x86_64", frozenset(machine["prints"].split()), machine["vendor"])
    spec = CpuSpec("host", Origin.CONFIG, Mode.HOST, "host")
    return resolve(spec, "x86_64", Accelerator.KVM, Known(silicon))


@pytest.mark.parametrize("machine", MACHINES)
def test_nothing_is_shown_that_qemu_did_not_give(machine: dict[str, Any]) -> None:
    lacks = frozenset(machine["lacks"].split())
    assert {host_guest(machine).state(flag) for flag in lacks} == {State.UNKNOWN}


@pytest.mark.parametrize("machine", MACHINES)
def test_whatever_else_is_printed_is_shown(machine: dict[str, Any]) -> None:
    printed = frozenset(filter(features.settable, machine["prints"].split()))
    given = printed - frozenset(machine["lacks"].split()) - CONDITIONAL
    assert len(given) > 80
    view = host_guest(machine)
    assert {flag for flag in given if not view.shows(flag)} == set()


@pytest.mark.parametrize("machine", MACHINES)
def test_kvm_shows_what_it_makes_itself(machine: dict[str, Any]) -> None:
    assert host_guest(machine).shows(*machine["shows_besides"].split())


@pytest.mark.parametrize("machine", MACHINES)
def test_words_of_the_hosts_kernel_are_left_open(machine: dict[str, Any]) -> None:
    words = {"constant_tsc", "rep_good", "aperfmperf", "cqm"}
    assert words <= set(machine["prints"].split())
    assert {host_guest(machine).state(word) for word in words} == {State.UNKNOWN}


def test_a_host_whose_kernel_does_not_use_five_level_paging() -> None:
    assert "la57" in UNPRINTED
    assert gives("la57", frozenset({"aes"}))
    assert "la57" in doubtful(frozenset({"aes"}))
    assert "la57" in passed(frozenset({"la57"}))


def test_the_sets_hold_flags_in_our_spelling() -> None:
    assert not KEPT & CONDITIONAL
    assert not (KEPT | CONDITIONAL) & EMULATED
    for flag in KEPT | CONDITIONAL | UNPRINTED | EMULATED - {"nopl"}:
        assert features.canonical(flag) == flag
        assert features.settable(flag), flag


@pytest.mark.peer
def test_kvm_of_this_machine_gives_and_keeps_the_same() -> None:
    tool = catalogue_tool.load()
    binary = peers.program("qemu-system-x86_64")
    try:
        _, models = tool.expansions(binary, "kvm")
    except tool.QemuError as error:
        # No peer that can be installed: a machine without /dev/kvm is as good as one with it.
        pytest.skip(f"KVM does not open: {error}")
    given = frozenset[str]().union(*map(features.flags_of, models["max"].flags))
    assert given >= features.KVM_PROVIDES
    assert not KEPT & given
