"""Guests of a cluster by its nodes: real SSH servers, and a `qm` that runs the program for real."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from support import pve_node, sshd
from support.pve_node import Node
from support.sshd import Client, Sshd
from unmask.connect import threads
from unmask.connect.ssh_session import Session
from unmask.errors import TargetError
from unmask.model.entry import VisitOptions
from unmask.model.inventory import Guest, Inventory
from unmask.model.source import CollectOptions
from unmask.sources._pve_peers import Peers
from unmask.sources.proxmox_ssh import SOURCE
from unmask.visits import _agent, _pve_nodes
from unmask.visits._channel import Channel, NoWayError
from unmask.visits.proxmox_ssh import HYPERVISOR

pytestmark = pytest.mark.peer

QM = """\
import json, subprocess, sys, time
words = sys.argv[1:]
open({log!r}, "a").write(" ".join(words)[:200] + "\\n")
if words[:2] == ["guest", "cmd"]:
    told = {{
        "get-osinfo": {{"id": "debian"}},
        "network-get-interfaces": [
            {{"name": "eth0", "ip-addresses": [{{"ip-address": "192.0.2.8"}}]}}
        ],
    }}[words[3]]
else:
    begun = subprocess.run(words[words.index("--") + 1 :], stdin=sys.stdin, capture_output=True)
    told = {{"exited": 1, "exitcode": begun.returncode, "out-data": begun.stdout.decode("latin-1")}}
sys.stdout.buffer.write(json.dumps(told, ensure_ascii=False, indent=3).encode("latin-1"))
"""
"""What `qm` does, with this machine as the guest."""


def install(node: Node, script: str = "") -> Path:
    """Give a node a qm; returns the file with what it was asked."""
    log = node.root / "qm.log"
    program = node.root / "qm.py"
    program.write_text(QM.format(log=str(log)))
    node.has("qm", script or f'exec {sys.executable} {program} "$@"')
    return log


@dataclass(frozen=True, slots=True)
class Place:
    """Two nodes and somebody who may log in."""

    alder: Node
    birch: Node
    user: Client
    first: Sshd

    @property
    def target(self) -> str:
        return f"pve+ssh://{self.first.place}"

    @property
    def options(self) -> CollectOptions:
        login = self.user.options()
        return CollectOptions(timeout=30, ssh=login, visits=VisitOptions(seconds=30))

    @contextmanager
    def entered(self) -> Iterator[tuple[Channel, Inventory]]:
        found = SOURCE.collect(self.target, self.options)
        with HYPERVISOR.open(self.target, self.options, found) as channel:
            yield channel, found


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    user, port = sshd.client(tmp_path / "client"), sshd.free_port()
    alder, birch = (pve_node.node(tmp_path / name, name) for name in ("alder", "birch"))
    addresses = {"alder": ["127.0.0.1"], "birch": ["127.0.0.2"], "cedar": ["127.0.0.3"]}
    for node in (alder, birch):
        node.write("etc/pve/corosync.conf", pve_node.corosync("homelab", addresses))
        (node.etc_pve / "qemu-server").symlink_to(f"nodes/{node.name}/qemu-server")
    with (
        pve_node.serving(alder, user, port=port) as first,
        pve_node.serving(birch, user, port=port, address="127.0.0.2") as second,
    ):
        user.knows(first, second)
        yield Place(alder, birch, user, first)


def guest_on(found: Inventory, node: str) -> Guest:
    guest = next(guest for guest in found.guests if guest.host.endswith(f"/{node}"))
    return replace(guest, agent=True)


def test_fits_the_nodes_only() -> None:
    assert HYPERVISOR.fits("pve+ssh://pve1.example")
    assert not HYPERVISOR.fits("pve://pve1.example")


@pytest.mark.parametrize("name", ["alder", "birch"])
def test_a_guest_is_entered_on_its_own_node(place: Place, name: str) -> None:
    """The real program, run by the real shell of this machine."""
    logs = {node.name: install(node) for node in (place.alder, place.birch)}
    with place.entered() as (channel, found):
        guest = guest_on(found, name)
        inside, by = _agent.look(channel.agent(guest), 30)
        assert channel.addresses(guest) == ("192.0.2.8",)
    assert by == "the guest agent"
    assert inside.system.value.kernel_name == "Linux"
    assert inside.cpu.known
    lines = logs.pop(name).read_text().splitlines()
    assert [line.split()[:3] for line in lines] == [
        ["guest", "cmd", guest.ident],
        ["guest", "exec", guest.ident],
        ["guest", "cmd", guest.ident],
    ]
    assert not logs.popitem()[1].exists()


def test_what_qm_says_is_the_reason(place: Place) -> None:
    install(place.alder, "echo 'QEMU guest agent is not running' >&2; exit 255")
    with place.entered() as (channel, found):
        guest = guest_on(found, "alder")
        with pytest.raises(NoWayError, match="the guest agent does not answer") as caught:
            _agent.look(channel.agent(guest), 30)
        with pytest.raises(NoWayError, match="the guest agent does not answer"):
            channel.addresses(guest)
    assert "qemu-guest-agent" in caught.value.needs


def test_where_the_options_say_that_there_is_no_agent_none_is_asked(place: Place) -> None:
    log = install(place.alder)
    with place.entered() as (channel, found):
        guest = replace(guest_on(found, "alder"), agent=False)
        with pytest.raises(NoWayError, match="not switched on"):
            channel.agent(guest)
        with pytest.raises(NoWayError, match="not switched on"):
            channel.addresses(guest)
    assert not log.exists()


def test_a_node_without_qm_says_so(place: Place) -> None:
    with place.entered() as (channel, found), pytest.raises(NoWayError, match="no qm on its node"):
        channel.addresses(guest_on(found, "alder"))


def test_a_flood_costs_its_own_guest_only(place: Place) -> None:
    install(place.alder, 'case "$*" in *osinfo*) echo "{}";; *exec*) yes;; *) echo "[]";; esac')
    with place.entered() as (channel, found):
        guest = guest_on(found, "alder")
        with pytest.raises(NoWayError, match="answered with more than"):
            _agent.look(channel.agent(guest), 30)
        assert channel.addresses(guest) == ()


def test_a_hanging_guest_is_left_in_time(place: Place) -> None:
    install(place.alder, 'case "$*" in *osinfo*) echo "{}";; *) sleep 60;; esac')
    with place.entered() as (channel, found), pytest.raises(NoWayError, match="did not end within"):
        _agent.look(channel.agent(guest_on(found, "alder")), 2)


def test_a_node_that_cannot_be_reached_is_tried_once(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []
    log_in = Peers.log_in

    def counted(peers: Peers, name: str) -> Session:
        tried.append(name)
        return log_in(peers, name)

    with place.entered() as (channel, found):
        monkeypatch.setattr(Peers, "log_in", counted)
        guest = replace(guest_on(found, "alder"), host="homelab/cedar")
        for _ in range(3):
            with pytest.raises(NoWayError) as caught:
                channel.addresses(guest)
            assert caught.value.needs == "SSH access to cedar"
    assert tried == ["cedar"]


def test_many_guests_of_one_node_are_asked_within_what_its_server_allows(place: Place) -> None:
    """Sshd lets ten sessions through one connection; more would be refused."""
    script = 'sleep 0.2; echo "[]"'
    install(place.birch, script)
    with place.entered() as (channel, found):
        guest = guest_on(found, "birch")
        told = threads.spread(lambda _: channel.addresses(guest), range(24), 24)
    assert told == [()] * 24


def test_who_waits_too_long_for_a_busy_node_says_so(place: Place) -> None:
    with place.entered() as (channel, found):
        nodes = channel.nodes  # type: ignore[attr-defined]
        guest = guest_on(found, "alder")
        release, holding = threading.Event(), threading.Semaphore(0)

        def hold(_: int) -> None:
            with nodes.on("alder", 30):
                holding.release()
                release.wait(30)

        holders = [threading.Thread(target=hold, args=(n,)) for n in range(_pve_nodes.AT_ONCE)]
        for holder in holders:
            holder.start()
        for _ in holders:
            holding.acquire()
        with pytest.raises(NoWayError, match="too much to do"):
            channel.disks(guest, 0.1)
        release.set()
        for holder in holders:
            holder.join()


def test_disks_are_read_on_the_guests_node(place: Place) -> None:
    with place.entered() as (channel, found):
        told = channel.disks(guest_on(found, "birch"), 20)
    assert told.known
    assert [disk.name for disk in told.value]


def test_whoever_lets_nobody_in_is_the_targets_error(place: Place) -> None:
    found = SOURCE.collect(place.target, place.options)
    place.first.process.terminate()
    place.first.process.wait(timeout=30)
    with pytest.raises(TargetError, match="nothing listens there"):
        HYPERVISOR.open(place.target, place.options, found)
