"""Plans: what a guest would have, what that buys its work, and the steps to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from support import move_case, rule_case
from support.benches import environment, samples
from unmask.engine.cases import guest_cases
from unmask.fixes.plan import plan
from unmask.model.bench import BenchResult
from unmask.model.change import Gain, Plan, Setting
from unmask.model.inventory import Platform

ZFS = {
    "kind": "zfs", "name": "tank", "consumer": "openzfs", "cipher": "aes-256-gcm",
    "version": "2.3.2", "activity": "active",
}  # fmt: skip
LUKS = {"kind": "luks", "name": "root", "consumer": "dm-crypt", "cipher": "aes-xts-plain64"}
WIREGUARD = {"kind": "wireguard", "name": "wg0", "consumer": "openssl", "cipher": "chacha20"}
HOSTS = {"lab/one": "broadwell", "lab/two": "broadwell"}


def made(
    wish: str,
    acks: Sequence[str] = (),
    hosts: dict[str, Any] | None = None,
    before: Setting | None = None,
    **guest: Any,
) -> Plan:
    """Return the plan for the guest lab/101."""
    read = move_case.inventory(hosts or HOSTS, [guest])
    cases = guest_cases(read, rule_case.finders([guest]))
    return plan(read, cases, "lab/101", wish, acks, target="pve://one", before=before)


def test_a_plan_has_place_settings_and_flags() -> None:
    found = made("host", cpu="x86-64-v2-AES")
    place = found.place
    assert (place.target, place.ident, place.node) == ("pve://one", "101", "one")
    assert (found.before, found.after) == (Setting("x86-64-v2-AES"), Setting("host"))
    assert {"avx", "avx2", "pclmulqdq"} <= set(found.gained)
    assert "aes" not in found.gained
    assert found.gained == tuple(sorted(found.gained))
    assert found.lost == ()


def test_what_the_hypervisor_says_now_counts_and_its_digest_is_kept() -> None:
    before = Setting("kvm64,hidden=1", "d1")
    found = made("+aes", before=before)
    assert found.before == before
    assert found.after == Setting("kvm64,hidden=1,flags=+aes")


def gain(found: Plan) -> Gain:
    (only,) = found.gains
    return only


def test_aes_alone_does_almost_nothing_for_encrypted_zfs_and_what_does_is_offered() -> None:
    found = gain(made("+aes", cpu="x86-64-v2", sees="x86-64-v2", workloads=[ZFS]))
    assert not found.helps
    assert found.before.startswith("software, keeps 0.")
    assert found.after.startswith("software, keeps 0.")
    for word in ("avx", "PCLMULQDQ", "almost nothing", "--cpu recommended"):
        assert word in found.why


def test_recommended_helps_encrypted_zfs() -> None:
    found = gain(made("recommended", cpu="x86-64-v2", sees="x86-64-v2", workloads=[ZFS]))
    assert (found.workload, found.after, found.helps) == ("zfs tank", "hardware", True)


def test_aes_alone_is_enough_for_luks() -> None:
    found = gain(made("+aes", cpu="x86-64-v2", sees="x86-64-v2", workloads=[LUKS]))
    assert (found.after, found.helps) == ("hardware", True)


def test_the_driver_that_was_seen_is_not_held_against_the_new_cpu() -> None:
    seen = {**LUKS, "driver": "xts(ecb(aes-generic))"}
    found = gain(made("host", cpu="x86-64-v2", sees="x86-64-v2", workloads=[seen]))
    assert found.after == "hardware"


def test_what_becomes_slower_is_told() -> None:
    aes = "x86-64-v2-AES"
    found = gain(made("x86-64-v2", cpu=aes, sees=aes, workloads=[LUKS]))
    assert not found.helps
    assert "becomes slower" in found.why


def test_what_the_host_itself_lacks_is_told() -> None:
    hosts = {"lab/one": {"like": "broadwell", "without": "avx avx2"}}
    found = gain(made("Westmere", hosts=hosts, cpu="kvm64", sees="kvm64", workloads=[ZFS]))
    assert "Its host itself has no avx" in found.why


def test_work_without_any_part_of_the_cpu_gains_nothing() -> None:
    found = gain(made("host", sees="kvm64", workloads=[{**LUKS, "host_side": True}]))
    assert (found.before, found.helps) == ("not-affected", False)


def test_nothing_to_change_is_a_plan_without_steps_and_costs() -> None:
    found = made("host", cpu="host")
    assert not found.changes
    assert found.steps == ()
    assert found.constraints == ()
    assert found.open == ()


def test_a_change_that_waits_already_is_told_with_what_makes_it_hold() -> None:
    found = made("host", cpu="kvm64", pending="host")
    assert not found.changes
    assert "qm shutdown 101 && qm start 101" in found.notes[-1]


def test_steps_of_proxmox() -> None:
    commands = [step.command for step in made("host").steps]
    assert commands == [
        "qm set 101 --cpu host",
        "qm pending 101",
        "qm shutdown 101 && qm start 101",
    ]


def test_a_guest_that_is_off_is_not_restarted() -> None:
    commands = [step.command for step in made("host", state="stopped").steps]
    assert commands == ["qm set 101 --cpu host", "qm pending 101"]


def test_a_custom_model_comes_first() -> None:
    found = made("custom-nas")
    assert found.custom_model.startswith("cpu-model: nas\n")
    assert "custom model nas" in found.steps[0].what
    assert "RST011" in [item.code for item in found.constraints]


def test_steps_of_libvirt() -> None:
    found = made(
        "host-model",
        before=Setting("<cpu mode='custom'><model>qemu64</model></cpu>"),
        platform="libvirt",
    )
    assert [step.command for step in found.steps] == [
        "virsh edit web",
        "virsh dumpxml --inactive web",
        (
            "virsh shutdown web && while virsh list --name | grep -qxF -- web; do sleep 2; done "
            "&& virsh start web"
        ),
    ]


def test_names_are_quoted() -> None:
    read = move_case.inventory(HOSTS, [{}])
    odd = replace(read.guests[0], name="a b; rm", ident="", platform=Platform.LIBVIRT)
    read = replace(read, guests=(odd,))
    before = Setting("<cpu mode='host-model'/>")
    found = plan(read, guest_cases(read), "lab/101", "host", before=before)
    assert found.steps[0].command == "virsh edit 'a b; rm'"


def test_a_container_has_a_plan_that_stops_it() -> None:
    found = made("host", kind="container", cpu="container")
    assert not found.changes
    assert [(item.code, item.fatal) for item in found.constraints] == [("RST007", True)]
    assert found.open == found.constraints


def test_a_rented_machine_has_a_plan_that_stops_it() -> None:
    found = made("host", platform="unseen", sees="kvm64")
    assert [(item.code, item.fatal) for item in found.constraints] == [("RST007", True)]


@pytest.mark.parametrize("acks", [(), ("rst001",), ("RST001",)])
def test_codes_that_are_taken_on_are_marked(acks: tuple[str, ...]) -> None:
    found = made("Westmere", acks)
    marks = {item.code: item.acknowledged for item in found.constraints}
    assert marks == {"RST001": bool(acks)}
    assert bool(found.open) == (not acks)


def test_what_is_fatal_cannot_be_taken_on() -> None:
    found = made("Westmere", ("RST007", "RST001"), lock="backup")
    (stopping,) = [item for item in found.constraints if item.fatal]
    assert (stopping.code, stopping.acknowledged) == ("RST007", False)
    assert found.open == (stopping,)
    assert found.constraints[0] == stopping


@pytest.mark.parametrize("rate", [300, 90, 20])
def test_what_was_measured_on_the_node_decides_between_two_slow_models(rate: float) -> None:
    work = {"kind": "tls", "name": "nginx", "consumer": "openssl", "version": "3.0.19"}
    guest = {"cpu": "kvm64", "sees": "kvm64", "workloads": [work]}
    read = move_case.inventory(HOSTS, [guest])
    rates = samples({"aes-256-gcm": {"kvm64": 88, "Nehalem": rate, "host": 2900}})
    where = replace(environment(), cpu=read.hosts[0].cpu)
    measured = BenchResult(
        "lab/one", "one", method="quick what-if", environment=where, samples=rates
    )
    cases = guest_cases(read, rule_case.finders([guest]), (measured,))
    found = gain(plan(read, cases, "lab/101", "Nehalem"))
    assert found.before == "software, keeps 3 %"
    assert found.helps == (rate == 300)
    assert f"88.0 MB/s before and {rate:.0f}" in found.why
    assert ("becomes slower" in found.why) == (rate < 88)
