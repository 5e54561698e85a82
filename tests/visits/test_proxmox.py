"""Guests of the lab, entered through the API: who can be, who cannot and why, and who lies."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from support.lab_target import address, login, read, trust
from unmask.errors import TargetError
from unmask.lab.guest_agent import GuestAgent, Outcome
from unmask.lab.lab import Lab
from unmask.model.access import Access
from unmask.model.entry import VisitOptions
from unmask.model.inside import Inside
from unmask.model.inventory import Guest
from unmask.model.source import CollectOptions
from unmask.visits import _agent, proxmox
from unmask.visits._channel import Channel, NoWayError
from unmask.visits.proxmox import HYPERVISOR

SHELL = ("/bin/sh", "-s")


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with Lab() as made:
        yield made


@contextmanager
def entered(
    lab: Lab, name: str = "agent", seconds: float = 20
) -> Iterator[tuple[Channel, Mapping[str, Guest]]]:
    """Open the way to a lab's guests; gives them by their ids, too."""
    found = read(lab, "audit")
    options = CollectOptions(
        access=Access(login(lab, name), trust(lab)), visits=VisitOptions(seconds=seconds)
    )
    with HYPERVISOR.open(address(lab), options, found) as channel:
        yield channel, {guest.ident: guest for guest in found.guests}


def look(channel: Channel, guest: Guest, seconds: float = 20) -> Inside:
    return _agent.look(channel.agent(guest), seconds)[0]


def refused(channel: Channel, guest: Guest, seconds: float = 20) -> tuple[str, str]:
    with pytest.raises(NoWayError) as caught:
        look(channel, guest, seconds)
    return caught.value.reason, caught.value.needs


def asked(lab: Lab, vmid: int, since: int = 0) -> list[str]:
    """Return the requests that were sent to a guest's agent."""
    return [
        seen.route.rpartition("/")[2]
        for seen in lab.seen[since:]
        if f"/qemu/{vmid}/agent/" in seen.path
    ]


def test_fits_addresses_of_the_api_only() -> None:
    assert HYPERVISOR.fits("pve://pve1.example")
    assert not HYPERVISOR.fits("pve+ssh://pve1.example")


def test_a_guest_tells_of_its_encryption(lab: Lab) -> None:
    with entered(lab) as (channel, guests):
        found = look(channel, guests["101"])
    assert found.root is True
    assert found.system.value.appliance == "TrueNAS SCALE"
    assert "aes" not in found.cpu.value.flags
    assert {item.name: item.encryption for item in found.zfs.value.datasets}["tank"] == (
        "aes-256-gcm"
    )


def test_each_kind_of_system_is_read(lab: Lab) -> None:
    with entered(lab) as (channel, guests):
        freebsd = look(channel, guests["102"])
        windows = look(channel, guests["110"])
        openwrt = look(channel, guests["103"])
    assert freebsd.openvpn.value[0].port == 1194
    assert "aes" not in freebsd.cpu.value.flags
    assert windows.bitlocker.value[0].method == "XTS-AES-128"
    assert openwrt.wireguard.value[0].peers == 3


def test_one_program_is_run_for_each_guest(lab: Lab) -> None:
    with entered(lab) as (channel, guests):
        before = len(lab.seen)
        look(channel, guests["112"])
    requests = asked(lab, 112, before)
    assert requests.count("exec") == 1
    assert set(requests) == {"get-osinfo", "exec", "exec-status"}
    assert lab.written == ()


@pytest.mark.parametrize(
    ("vmid", "reason", "needs"),
    [
        ("115", "the guest agent is not switched on in its options", "agent: 1 in its options"),
        ("114", "the guest agent does not answer", "qemu-guest-agent"),
        ("111", "the guest agent is not switched on in its options", ""),
    ],
)
def test_why_a_guest_cannot_be_entered(lab: Lab, vmid: str, reason: str, needs: str) -> None:
    with entered(lab) as (channel, guests):
        said = refused(channel, guests[vmid])
    assert said[0] == reason
    assert needs in said[1]


def test_an_agent_that_is_not_there_is_asked_once(lab: Lab) -> None:
    with entered(lab) as (channel, guests):
        before = len(lab.seen)
        with pytest.raises(NoWayError, match="not switched on"):
            channel.addresses(guests["121"])
        assert "not switched on" in refused(channel, guests["121"])[0]
    assert asked(lab, 121, before) == ["network-get-interfaces"]


def test_a_login_that_may_not_run_programs_asks_no_guest(lab: Lab) -> None:
    with entered(lab, "audit") as (channel, guests):
        before = len(lab.seen)
        said = refused(channel, guests["101"])
        assert len(lab.seen) == before
        assert channel.addresses(guests["101"]) == ()  # which it may ask for: PVEAuditor can
    assert said == (
        "the login may not use guest agents",
        "VM.GuestAgent.Unrestricted on /vms/101",
    )


@pytest.mark.parametrize("version", ["7.4", "8.4"])
def test_before_9_the_privilege_is_another(version: str) -> None:
    with Lab(version=version) as old:
        with entered(old, "audit") as (channel, guests):
            assert refused(channel, guests["101"])[1] == "VM.Monitor on /vms/101"
            with pytest.raises(NoWayError, match="may not use"):
                channel.addresses(guests["101"])
        with entered(old) as (channel, guests):
            assert look(channel, guests["101"]).zfs.known


def test_a_refusal_for_one_guest_names_the_privilege_that_is_enough(lab: Lab) -> None:
    users = lab.cluster.files["user.cfg"]
    lab.cluster.files["user.cfg"] = users.replace("acl:1:/:agent@pve:", "acl:1:/vms/103:agent@pve:")
    try:
        with entered(lab) as (channel, guests):
            said = refused(channel, guests["101"])
            assert look(channel, guests["103"]).wireguard.known
    finally:
        lab.cluster.files["user.cfg"] = users
    assert "Permission check failed" in said[0]
    assert said[1] == "VM.GuestAgent.Unrestricted on /vms/101"


def test_a_password_does_as_well_as_a_token(lab: Lab) -> None:
    """Starting something needs the ticket's token against forged requests."""
    with entered(lab, "root@pam") as (channel, guests):
        assert look(channel, guests["120"]).luks_headers.known


def test_without_a_login_nobody_is_entered(lab: Lab) -> None:
    with pytest.raises(TargetError, match="no token or password"):
        HYPERVISOR.open(address(lab), CollectOptions(), read(lab))


def test_a_login_that_is_refused_is_the_targets_error(lab: Lab) -> None:
    options = CollectOptions(access=Access(login(lab, "expired"), trust(lab)))
    with pytest.raises(TargetError, match="refuses the token"):
        HYPERVISOR.open(address(lab), options, read(lab))


def test_permissions_that_cannot_be_read_do_not_keep_anybody_out(lab: Lab) -> None:
    rights = proxmox.Rights("9.2.11", None)
    rights.need(read(lab).guests[0], "VM.GuestAgent.Unrestricted")


def test_the_api_shows_no_sectors(lab: Lab) -> None:
    with entered(lab) as (channel, guests), pytest.raises(NoWayError, match="no sectors") as caught:
        channel.disks(guests["101"], 5)
    assert "pve+ssh://" in caught.value.needs


def test_addresses_are_the_agents(lab: Lab) -> None:
    told = dict(lab.cluster.agents[101].told)
    listed = [{"name": "eth0", "ip-addresses": [{"ip-address": "192.0.2.5"}]}]
    lab.cluster.agents[101].told = {**told, "network-get-interfaces": listed}
    try:
        with entered(lab) as (channel, guests):
            assert channel.addresses(guests["101"]) == ("192.0.2.5",)
    finally:
        lab.cluster.agents[101].told = told


class Odd(GuestAgent):
    """An agent whose exec-status is what a test says."""

    said: Any = None

    def status(self, pid: int) -> Any:
        super().status(pid)
        return self.said


@contextmanager
def replaced(lab: Lab, vmid: int, agent: GuestAgent) -> Iterator[None]:
    kept = lab.cluster.agents[vmid]
    lab.cluster.agents[vmid] = agent
    try:
        yield
    finally:
        lab.cluster.agents[vmid] = kept


def shell(lab: Lab, outcome: Outcome) -> GuestAgent:
    """Return 112's agent with a shell of the test's own."""
    return replace(lab.cluster.agents[112], commands={SHELL: outcome}, inside=None, pace=1.0)


@pytest.mark.parametrize(
    "out",
    [
        b"",
        b"\x1b]0;owned\x07" * 1000,
        b"x" * 10_000_000 + b"\n",
        b'{"return": {"exited": true}}',
        bytes(range(256)) * 100,
    ],
)
def test_a_shell_that_prints_something_else_costs_its_own_result(lab: Lab, out: bytes) -> None:
    with replaced(lab, 112, shell(lab, Outcome(out))), entered(lab) as (channel, guests):
        assert "printed nothing that could be read" in refused(channel, guests["112"])[0]
        assert look(channel, guests["123"]).dm_crypt.known


def test_a_flood_is_cut_and_told(lab: Lab) -> None:
    """The agent keeps 16 MiB, which is more than any honest answer."""
    flood = shell(lab, Outcome(b"\x07y\n" * 10_000_000))
    with replaced(lab, 112, flood), entered(lab) as (channel, guests):
        reason, _ = refused(channel, guests["112"])
    assert "answered with more than" in reason


def test_a_program_that_never_ends_is_left_in_time(lab: Lab) -> None:
    hangs = shell(lab, Outcome(seconds=3600))
    with replaced(lab, 112, hangs), entered(lab) as (channel, guests):
        began = time.monotonic()
        reason, needs = refused(channel, guests["112"], 1.5)
        assert time.monotonic() - began < 5
    assert "did not end within" in reason
    assert needs == "a longer --guest-timeout"


@pytest.mark.parametrize(
    "said",
    [
        {}, [], "yes", {"exited": 2}, {"exited": "no"}, {"exited": None},
        {"exited": 1, "out-data": ["x"]}, {"exited": 1, "out-data": 7}, {"exited": 1},
        {"exited": 1, "out-data": "\u20ac"},
    ],
)  # fmt: skip
def test_an_agent_that_answers_in_another_shape_costs_its_own_result(lab: Lab, said: Any) -> None:
    honest = lab.cluster.agents[112]
    odd = Odd(told=honest.told, inside=honest.inside, pace=0)
    odd.said = said
    with replaced(lab, 112, odd), entered(lab) as (channel, guests):
        reason, _ = refused(channel, guests["112"])
    assert "not what Proxmox VE sends" in reason or "printed nothing" in reason


def test_an_answer_that_was_lost_is_not_asked_for_by_another_program(lab: Lab) -> None:
    with entered(lab) as (channel, guests):
        before = len(lab.seen)
        lab.set_fault("truncated=1@exec-status")
        try:
            reason, _ = refused(channel, guests["112"])
        finally:
            lab.clear_faults()
    assert "lost" in reason or "breaks off" in reason or "before the end" in reason
    assert asked(lab, 112, before).count("exec") == 1


@pytest.mark.parametrize("fault", ["resets=1@agent/exec", "5xx=1@agent/exec", "html=1@agent/exec"])
def test_a_program_is_never_started_twice(lab: Lab, fault: str) -> None:
    with entered(lab) as (channel, guests):
        before = len(lab.seen)
        lab.set_fault(fault)
        try:
            refused(channel, guests["112"])
        finally:
            lab.clear_faults()
    sent = [seen for seen in lab.seen[before:] if seen.route.startswith("/nodes")]
    assert len([seen for seen in sent if "agent/exec" in seen.path]) <= 1


def test_a_guest_without_a_shell_says_so(lab: Lab) -> None:
    bare = replace(lab.cluster.agents[112], inside=None)
    with replaced(lab, 112, bare), entered(lab) as (channel, guests):
        reason, needs = refused(channel, guests["112"])
    assert "no such program" in reason
    assert "/bin/sh" in needs


def test_a_system_that_is_not_told_is_guessed_from_the_configuration(lab: Lab) -> None:
    honest = lab.cluster.agents[110]
    told = {name: value for name, value in honest.told.items() if name != "get-osinfo"}
    with replaced(lab, 110, replace(honest, told=told)), entered(lab) as (channel, guests):
        assert look(channel, guests["110"]).bitlocker.known


def test_after_the_end_nothing_is_asked(lab: Lab) -> None:
    with entered(lab) as (channel, guests):
        pass
    assert "interrupted" in refused(channel, guests["112"])[0]
