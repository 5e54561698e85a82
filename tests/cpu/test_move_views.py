"""A guest's CPU on another host: what is lost alive, and what its next start gets."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from support import move_case
from unmask.cpu import move_views, node_flags
from unmask.cpu.move_views import Views
from unmask.engine.cases import guest_cases
from unmask.model.cpu import Accelerator, CpuSpec, HypervisorCpu, Mode, Origin
from unmask.model.inventory import Inventory


def views(inventory: Inventory) -> Views:
    """Return the first guest on the second host."""
    target = inventory.hosts[1]
    return move_views.views(guest_cases(inventory)[0], target, node_flags.node(target))


def between(source: Any, target: Any, **guest: Any) -> Views:
    return views(move_case.inventory({"lab/one": source, "lab/two": target}, [guest]))


def test_what_runs_is_lost_alive_and_what_is_configured_at_the_next_start() -> None:
    found = between("cascadelake", "nehalem", cpu="x86-64-v3", running="x86-64-v2-AES")
    assert found.alive.lost == {"aes"}
    assert "avx2" in found.started.lost
    assert (found.alive.starts, found.started.starts) == (False, False)


def test_a_flag_that_its_own_host_never_gave_is_not_lost() -> None:
    unguarded = {"like": "x86-64-v4", "enforced": False}
    assert between("broadwell", "nehalem", cpu=unguarded).alive.lost.isdisjoint({"avx512f"})


def test_host_is_what_its_own_host_gives() -> None:
    found = between("cascadelake", "broadwell", cpu="host")
    assert {"avx512f", "pku"} <= found.alive.lost
    assert found.alive.starts
    assert found.started.starts
    assert found.started.hides("avx512f")


def test_equal_hosts_lose_nothing_though_their_lists_are_not_complete() -> None:
    part = {"like": "broadwell", "complete": False}
    found = between(part, part, cpu="host")
    assert (found.alive.lost, found.doubt, found.unread) == (frozenset(), frozenset(), None)


def test_what_may_be_missing_is_a_doubt() -> None:
    found = between("broadwell", {"like": "nehalem", "complete": False}, cpu="x86-64-v2-AES")
    assert (found.alive.lost, found.doubt) == (frozenset(), frozenset({"aes"}))


def test_an_unread_host_is_unread() -> None:
    found = between("broadwell", None, cpu="kvm64")
    assert found.unread is not None
    assert found.unread.needs == "nodes/NAME/cpuinfo"


def test_what_its_own_host_does_not_give_is_not_said_of_an_unread_one() -> None:
    found = between({"like": "broadwell", "without": "aes"}, None, cpu="Haswell")
    assert (found.alive.lost, found.alive.starts) == (frozenset(), True)
    assert found.unread is not None


@pytest.mark.parametrize(("setting", "lost"), [("N", False), ("", True)])
def test_nested_virtualisation_is_nothing_to_lose_where_it_is_off(setting: str, lost: bool) -> None:  # noqa: FBT001
    source = {"cpu": "broadwell", "nested": setting}
    found = between(source, {"like": "broadwell", "without": "vmx"}, cpu="host")
    assert ("vmx" in found.alive.lost) is lost


def expansion(*flags: str) -> HypervisorCpu:
    """Return domain capabilities whose host-model is Westmere and these flags."""
    spec = CpuSpec(
        "", Origin.CONFIG, Mode.MODEL, "Westmere", "Westmere", frozenset(flags), exact=True
    )
    return HypervisorCpu("x86_64", Accelerator.KVM, host_model=spec)


def test_libvirts_own_list_goes_before_the_kernels() -> None:
    read = move_case.on_libvirt(
        move_case.inventory(
            {"one": "broadwell", "two": "broadwell"}, [{"host": "one", "cpu": "IvyBridge"}]
        )
    )
    assert views(read).alive.lost == frozenset()
    poor = replace(read.hosts[1], offers=(expansion(),))
    assert "avx" in views(replace(read, hosts=(read.hosts[0], poor))).alive.lost


def test_host_passthrough_loses_only_what_neither_list_has() -> None:
    read = move_case.on_libvirt(
        move_case.inventory(
            {"one": "broadwell", "two": "broadwell"}, [{"host": "one", "cpu": "host"}]
        )
    )
    other = replace(read.hosts[1], offers=(expansion(),))
    assert views(replace(read, hosts=(read.hosts[0], other))).alive.lost == frozenset()


def test_tcg_loses_what_another_version_does_not_emulate() -> None:
    new, old = {"cpu": "broadwell", "qemu": "11.1.0"}, {"cpu": None, "qemu": "7.2.0"}
    forth = between(old, new, cpu="max", accelerator="tcg")
    back = between(new, old, cpu="max", accelerator="tcg")
    assert forth.alive.lost <= {"pcommit"}  # which newer versions have dropped
    assert "sha_ni" in back.alive.lost
    assert back.unread is None


def test_invtsc_is_not_the_targets_to_give() -> None:
    cpu = {"like": "x86-64-v2-AES", "on": "invtsc"}
    assert between("broadwell", "broadwell", cpu=cpu).alive.lost == frozenset()


@pytest.mark.parametrize(
    ("platform", "cpu", "expected"),
    [
        ("proxmox", "kvm64", True),
        ("proxmox", "host", False),
        ("proxmox", {"like": "kvm64", "enforced": False}, False),
        ("libvirt", {"like": "kvm64", "enforced": False}, True),
        ("libvirt", "host-model", True),
        ("libvirt", "host", False),
    ],
)
def test_who_guards_a_live_guest(platform: str, cpu: Any, *, expected: bool) -> None:
    inventory = move_case.inventory({}, [{"platform": platform, "cpu": cpu}])
    assert move_views.guarded(inventory.guests[0]) is expected
