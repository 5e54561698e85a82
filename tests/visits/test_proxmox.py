"""Guests of the lab, entered through the API: who can be, who cannot and why, and who lies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from support.lab_entered import asked, entered, look, refused, replaced
from support.lab_target import address, login, read, trust
from unmask.connect.proxmox_answer import LONGER, ApiError
from unmask.errors import TargetError
from unmask.lab.lab import Lab
from unmask.model.access import Access
from unmask.model.source import CollectOptions
from unmask.visits import proxmox
from unmask.visits._channel import NoWayError
from unmask.visits.proxmox import HYPERVISOR


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with Lab() as made:
        yield made


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
        with pytest.raises(NoWayError, match="does not answer"):
            channel.addresses(guests["114"])
        assert "does not answer" in refused(channel, guests["114"])[0]
    assert asked(lab, 114, before) == ["network-get-interfaces"]


def test_where_the_options_say_that_there_is_no_agent_none_is_asked(lab: Lab) -> None:
    with entered(lab) as (channel, guests):
        assert guests["121"].agent is False
        before = len(lab.seen)
        with pytest.raises(NoWayError, match="not switched on"):
            channel.addresses(guests["121"])
        assert len(lab.seen) == before
        changed = replace(guests["121"], agent=None)  # a source that does not tell
        assert "not switched on" in refused(channel, changed)[0]


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


def test_what_a_guest_took_too_long_for_needs_the_option_for_guests(lab: Lab) -> None:
    with entered(lab) as (_channel, guests):
        slow = ApiError("no whole answer within 5 s", LONGER)
        assert proxmox._shut(slow, guests["112"]).needs == "a longer --guest-timeout"
