"""The channel to a real guest under a real libvirtd: its agent, friendly, blocked and hostile."""

from __future__ import annotations

import base64
import re

import pytest

from support import visited
from support.booted_guest import BootedGuest, BootGuest
from support.domain_xml import Cpu
from support.probe_shell import MARK
from unmask.model.inside import Inside
from unmask.model.inventory import Guest, Inventory
from unmask.model.source import CollectOptions
from unmask.probes import _reading, _script
from unmask.visits import _agent
from unmask.visits._channel import Channel, NoWayError
from unmask.visits._libvirt_agent import MOST_BYTES
from unmask.visits.libvirt import HYPERVISOR

SECONDS = 120.0

HOSTILE = r"""
exec 3<>/dev/virtio-ports/org.qemu.guest_agent.0
say() { printf '%s\n' "$1" >&3; }
while read -r line <&3; do
    mode=$(cat /run/mode)
    id=$(printf '%s' "$line" | sed -n 's/.*guest-sync.*"id": *\([0-9]*\).*/\1/p')
    case $line in
        *guest-sync*) say "{\"return\": $id}" ;;
        *guest-ping*) say '{"return": {}}' ;;
        *guest-get-osinfo*) say '{"return": {"id": "\u001b[2J"}}' ;;
        *guest-exec-status*)
            case $mode in
                shape) say '{"return": [[[]]]}' ;;
                data) say '{"return": {"exited": true, "out-data": "\u001b[2J!!"}}' ;;
                running) say '{"return": {"exited": false}}' ;;
                endless) head -c 12000000 /dev/zero | tr '\0' x >&3 ;;
            esac ;;
        *guest-exec*) say '{"return": {"pid": 1}}' ;;
    esac
done
"""


def seen(guest: BootedGuest) -> Guest:
    """Return the guest as an audit knows it: by its UUID."""
    return visited.guest(ident=guest.libvirtd.virsh("domuuid", guest.name).strip())


def over_ssh(guest: BootedGuest) -> Inside:
    probes = _reading.probes()
    program = base64.b64encode(_script.script(MARK, probes).encode()).decode()
    output = guest.ssh(f"echo {program} | base64 -d | sh -s", timeout=180)
    return _reading.read(output.encode(), MARK, probes)


def test_the_agent_of_a_booted_guest(booted_guest: BootGuest) -> None:
    element = "<cpu mode='custom' match='exact'><model>Westmere</model></cpu>"
    guest = booted_guest("channel", cpu=Cpu(element=element))
    known = seen(guest)
    with HYPERVISOR.open(guest.libvirtd.uri, CollectOptions(), Inventory()) as channel:
        _tells_what_ssh_tells(channel, known, guest)
        _runs_what_it_is_given(channel, known)
        _is_addressed_by_its_card_first(channel, known)
        _stays_usable_after_floods_and_hangs(channel, known)
        _says_what_it_is_not_allowed(channel, known, guest)
        _is_believed_in_nothing(channel, known, guest)


def _tells_what_ssh_tells(channel: Channel, known: Guest, guest: BootedGuest) -> None:
    assert channel.agent(known).system() == "debian"
    inside, by = _agent.look(channel.agent(known), SECONDS)
    other = over_ssh(guest)
    assert by == "the guest agent"
    assert inside.root is True
    assert inside.system.value.ident == "debian"
    assert inside.cpu.value == other.cpu.value
    assert {"aes", "pclmulqdq"} <= inside.cpu.value.flags
    assert inside.openssl == other.openssl
    assert inside.tls_services == other.tls_services
    assert inside.luks_headers == other.luks_headers
    assert {item.port for item in inside.listeners.value} == {
        item.port for item in other.listeners.value
    }
    assert inside.partial == ()


def _runs_what_it_is_given(channel: Channel, known: Guest) -> None:
    agent = channel.agent(known)
    assert agent.run(["/bin/cat"], b"given\0\xff", SECONDS, 100) == b"given\0\xff"
    assert agent.run(["/bin/sh", "-c", "echo $0; exit 3", "a b"], b"", SECONDS, 100) == b"a b\n"
    assert agent.run(["/no/such/program"], b"", SECONDS, 100) == b""
    assert agent.run(["/bin/sh", "-c", "echo x; kill -9 $$"], b"", SECONDS, 100) == b"x\n"


def _is_addressed_by_its_card_first(channel: Channel, known: Guest) -> None:
    """The image has an OpenVPN and a WireGuard that nobody outside of them can reach."""
    found = channel.addresses(known)
    assert found[0] == "10.0.2.15"
    assert set(found[-2:]) == {"10.98.0.1", "10.99.0.1"}


def _stays_usable_after_floods_and_hangs(channel: Channel, known: Guest) -> None:
    agent = channel.agent(known)
    assert len(agent.run(["/usr/bin/yes"], b"", SECONDS, 10**9)) == MOST_BYTES
    errors = "head -c 20000000 /dev/zero >&2; echo done"
    assert agent.run(["/bin/sh", "-c", errors], b"", SECONDS, 100) == b"done\n"
    with pytest.raises(NoWayError, match="did not end within 1 s"):
        agent.run(["/bin/sleep", "10"], b"", 1, 100)
    assert agent.run(["/bin/echo", "here"], b"", SECONDS, 100) == b"here\n"


def _says_what_it_is_not_allowed(channel: Channel, known: Guest, guest: BootedGuest) -> None:
    guest.ssh("systemctl stop qemu-guest-agent")
    with pytest.raises(NoWayError, match="its guest agent does not run") as caught:
        channel.agent(known).system()
    assert "qemu-guest-agent" in caught.value.needs
    guest.ssh("systemd-run --unit=strict qemu-ga -b guest-exec,guest-exec-status")
    guest.ssh("sleep 2")
    with pytest.raises(NoWayError, match="may not run programs") as caught:
        channel.agent(known).run(["/bin/true"], b"", SECONDS, 100)
    assert re.search(r"block-rpcs.*FILTER_RPC_ARGS", caught.value.needs)
    guest.ssh("systemctl stop strict")


def _is_believed_in_nothing(channel: Channel, known: Guest, guest: BootedGuest) -> None:
    program = base64.b64encode(HOSTILE.encode()).decode()
    guest.ssh(f"echo {program} | base64 -d >/run/hostile; echo shape >/run/mode")
    guest.ssh("systemd-run --unit=hostile sh /run/hostile")
    guest.ssh("sleep 2")
    agent = channel.agent(known)
    assert agent.system() == ""
    strange = "its guest agent answers in a way that is none of an agent's"
    for mode, said in (
        ("shape", strange),
        ("data", strange),
        ("running", "the program in the guest did not end within 3 s"),
        ("endless", "its guest agent answers without end"),
    ):
        guest.ssh(f"echo {mode} >/run/mode")
        with pytest.raises(NoWayError) as caught:
            agent.run(["/bin/true"], b"", 3 if mode == "running" else SECONDS, 100)
        assert caught.value.reason == said, mode
    with pytest.raises(NoWayError, match="libvirt has given its guest agent up") as caught:
        agent.system()
    assert caught.value.needs == "a stop and start of the guest"
