"""One cluster, read by its API over TLS and by SSH from real OpenSSH servers: the same verdicts."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from support import pve_node, sshd
from support.lab_target import read
from support.pve_node import Node
from unmask.engine.cases import guest_cases
from unmask.lab.lab import Lab
from unmask.model.case import GuestCase
from unmask.model.inventory import GuestKind, Inventory
from unmask.model.source import CollectOptions
from unmask.sources.proxmox_ssh import SOURCE

pytestmark = pytest.mark.peer

VM = GuestKind.VM


@dataclass(frozen=True, slots=True)
class Both:
    """What the two ways tell of the lab's cluster."""

    api: Inventory
    ssh: Inventory


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    folder = tmp_path_factory.mktemp("same")
    with Lab() as lab:
        api = read(lab)
        yield Both(api, by_ssh(lab, api, folder))


def by_ssh(lab: Lab, api: Inventory, folder: Path) -> Inventory:
    """Serve the lab's tree from as many servers as it has nodes, and read them."""
    lab.write_tree(folder / "tree", cpuinfo=True)
    names = [host.name for host in api.hosts]
    addresses = {name: [f"127.0.0.{number}"] for number, name in enumerate(names, 1)}
    user, port = sshd.client(folder / "client"), sshd.free_port()
    with contextlib.ExitStack() as stack:
        servers = []
        for name, (address,) in addresses.items():
            node = pve_node.node(folder / name, name, folder / "tree")
            node.write("etc/pve/corosync.conf", pve_node.corosync("homelab", addresses))
            for guest in api.guests:
                if guest.host.endswith(f"/{name}") and guest.kind is GuestKind.VM:
                    run_as_in(lab, int(guest.ident), node)
            serving = pve_node.serving(node, user, port=port, address=address)
            servers.append(stack.enter_context(serving))
        user.knows(*servers)
        options = CollectOptions(ssh=user.options())
        return SOURCE.collect(f"pve+ssh://{servers[0].place}", options)


def run_as_in(lab: Lab, vmid: int, node: Node) -> None:
    """Let a guest that runs in the lab run on the node, with the same command line."""
    cpu = lab.cpu_argument(vmid)
    process = lab.cluster.process(vmid)
    if process:
        kvm = process.values.get("kvm", "1") == "1"
        node.runs_guest(str(vmid), cpu, *(["-enable-kvm"] if kvm else ["-accel", "tcg"]))


def cases(inventory: Inventory) -> dict[str, GuestCase]:
    return {case.guest.subject: case for case in guest_cases(inventory)}


def test_the_same_guests_and_hosts(both: Both) -> None:
    assert [guest.subject for guest in both.ssh.guests] == [
        guest.subject for guest in both.api.guests
    ]
    assert [host.subject for host in both.ssh.hosts] == [host.subject for host in both.api.hosts]
    assert {host.subject: host.cpu.value.flags for host in both.ssh.hosts} == {
        host.subject: host.cpu.value.flags for host in both.api.hosts
    }


def test_the_same_cpu_verdicts(both: Both) -> None:
    """QEMU's version differs, as these servers have their own; nothing else may."""
    known = {host.subject: host.software for host in both.api.hosts}
    hosts = tuple(replace(host, software=known[host.subject]) for host in both.ssh.hosts)
    ours, theirs = cases(both.api), cases(replace(both.ssh, hosts=hosts))
    for subject, case in ours.items():
        other = theirs[subject]
        assert case.view.states == other.view.states, subject
        assert (case.view.label, case.view.level) == (other.view.label, other.view.level), subject
        assert (case.pending is None) == (other.pending is None), subject
        if case.pending and other.pending:
            assert case.pending.states == other.pending.states, subject


def test_the_same_guests_run(both: Both) -> None:
    states = {guest.subject: guest.state for guest in both.ssh.guests if guest.running}
    assert states
    assert states.items() <= {guest.subject: guest.state for guest in both.api.guests}.items()


def test_the_same_stands_in_the_way_of_a_change(both: Both) -> None:
    ours, theirs = (
        {item.subject: (item.lock, item.high_availability, item.replicas) for item in found.guests}
        for found in (both.api, both.ssh)
    )
    assert ours == theirs
    assert {"backup", "suspended"} <= {lock for lock, _, _ in ours.values()}
    assert ours["homelab/125"][1:] == ("started", ())
    assert ours["homelab/126"][1:] == ("", ("pve2",))


def test_the_same_holds_guests_on_their_nodes(both: Both) -> None:
    ours, theirs = (
        {item.subject: (item.ties, item.confined) for item in found.guests if item.kind is VM}
        for found in (both.api, both.ssh)
    )
    assert ours == theirs
    assert [confined for _, confined in ours.values() if confined.value]
