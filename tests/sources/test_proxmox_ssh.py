"""Proxmox VE clusters by SSH: real servers whose nodes are directories."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from support import pve_node, sshd
from support.pve_node import EXAMPLE, Node
from support.sshd import USER, Client, Sshd
from unmask import plugins
from unmask.engine import cases, document
from unmask.model.finding import Finding, Rule
from unmask.model.inventory import Gap, Guest, GuestState, Host, Inventory
from unmask.model.reading import Known, Missing
from unmask.model.source import CollectOptions
from unmask.sources import proxmox_files
from unmask.sources.proxmox_ssh import SOURCE

pytestmark = pytest.mark.peer

V2_AES = "qemu64,+aes,enforce,+kvm_pv_eoi,+kvm_pv_unhalt,+pni,+popcnt,+sse4.1,+sse4.2,+ssse3"
V2 = "qemu64,enforce,+kvm_pv_eoi,+kvm_pv_unhalt,+pni,+popcnt,+sse4.1,+sse4.2,+ssse3"


@dataclass(frozen=True, slots=True)
class Place:
    """Two nodes of the example's three, and somebody who may log in."""

    alder: Node
    birch: Node
    user: Client
    first: Sshd
    second: Sshd

    @property
    def target(self) -> str:
        return f"pve+ssh://{self.first.place}"

    def collect(self, timeout: float = 30.0, **options: object) -> Inventory:
        login = self.user.options(**options)
        return SOURCE.collect(self.target, CollectOptions(timeout=timeout, ssh=login))


@contextlib.contextmanager
def cluster(directory: Path, settings: str = "") -> Iterator[Place]:
    user = sshd.client(directory / "client")
    port = sshd.free_port()
    addresses = {"alder": ["127.0.0.1"], "birch": ["127.0.0.2"], "cedar": ["127.0.0.3"]}
    alder = pve_node.node(directory / "alder", "alder")
    birch = pve_node.node(directory / "birch", "birch")
    for node in (alder, birch):
        node.write("etc/pve/corosync.conf", pve_node.corosync("homelab", addresses))
    with (
        pve_node.serving(alder, user, port=port, settings=settings) as first,
        pve_node.serving(birch, user, port=port, address="127.0.0.2") as second,
    ):
        user.knows(first, second)
        yield Place(alder, birch, user, first, second)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with cluster(tmp_path) as found:
        yield found


def guest(inventory: Inventory, vmid: str) -> Guest:
    return next(found for found in inventory.guests if found.subject == f"homelab/{vmid}")


def host(inventory: Inventory, name: str) -> Host:
    return next(found for found in inventory.hosts if found.name == name)


def gap(inventory: Inventory, subject: str) -> Gap:
    (found,) = [found for found in inventory.gaps if found.subject == subject]
    return found


def findings(inventory: Inventory) -> tuple[Finding, ...]:
    rules = plugins.load("unmask.rules", "RULE", Rule)
    report = document.build(inventory, rules, version="0", started="2026-12-01T00:00:00Z")
    return report.outcome.findings


def test_same_guests_and_verdicts_as_a_copy_of_the_files(tmp_path: Path) -> None:
    """With hidden processes and no CPU facts of cedar, files tell the same as SSH."""
    copy = tmp_path / "copy"
    shutil.copytree(EXAMPLE, copy)
    (copy / "nodes/cedar/cpuinfo").unlink()
    with cluster(tmp_path) as place:
        for node in (place.alder, place.birch):
            shutil.rmtree(node.root / "proc/1")
            node.has("dpkg-query", "exit 1")  # files do not tell the version either
        live = place.collect()
    files = proxmox_files.SOURCE.collect(str(copy), CollectOptions())
    assert len(live.guests) == 22
    assert [replace(one, location="") for one in live.guests] == [
        replace(one, location="") for one in files.guests
    ]
    assert live.clusters == files.clusters
    views = [(case.view, case.pending) for case in cases.guest_cases(live)]
    assert views == [(case.view, case.pending) for case in cases.guest_cases(files)]
    assert [(one.code, one.subject) for one in findings(live)] == [
        (one.code, one.subject) for one in findings(files)
    ]
    assert [gap.subject for gap in live.gaps] == ["homelab/alder", "homelab/birch", "homelab/cedar"]


def test_nodes_tell_about_themselves(place: Place) -> None:
    found = place.collect()
    assert found.targets == (place.target,)
    for name in ("alder", "birch"):
        node = host(found, name)
        assert isinstance(node.cpu, Known)
        assert node.software.hypervisor == "Proxmox VE 9.1.4"
        assert node.software.qemu == "10.1.2"
        assert node.software.kernel
        assert node.parameters == (("kvm.ignore_msrs", "N"), ("kvm_amd.nested", "1"))
    assert host(found, "alder").cpu.value.microcode == "0x830107c"


def test_each_node_is_asked_once(place: Place) -> None:
    place.collect()
    assert place.alder.commands == ["/bin/sh -s"]
    assert place.birch.commands == ["/bin/sh -s"]


def test_node_that_cannot_be_reached_is_a_gap(place: Place) -> None:
    found = place.collect()
    missing = host(found, "cedar").cpu
    assert isinstance(missing, Missing)
    said = gap(found, "homelab/cedar")
    assert (said.reason, said.needs) == (missing.reason, missing.needs)
    assert f"127.0.0.3:{place.first.port} through {place.first.place}" in said.reason
    assert said.needs == "SSH access to cedar"
    assert guest(found, "302").state is GuestState.UNKNOWN


def test_processes_beat_configurations(place: Place) -> None:
    place.alder.runs_guest("103", V2_AES)
    place.alder.runs_guest("101", V2_AES)
    place.alder.runs(900, "/usr/bin/lxc-start", "-F", "-n", "190")
    found = place.collect()
    same, edited = guest(found, "103"), guest(found, "101")
    assert same.state is GuestState.RUNNING
    assert same.running is not None
    assert (same.running.label, same.pending) == ("x86-64-v2-AES", None)
    assert edited.running is not None
    assert edited.running.label == "x86-64-v2-AES"
    assert edited.pending is not None
    assert edited.pending.label == "x86-64-v2"
    assert guest(found, "190").state is GuestState.RUNNING
    assert guest(found, "102").state is GuestState.STOPPED
    pending = [one.subject for one in findings(found) if one.code == "CPU009"]
    assert "homelab/101" in pending
    assert "homelab/103" not in pending


def test_stopped_guest_takes_what_is_pending(place: Place) -> None:
    files = proxmox_files.SOURCE.collect(str(EXAMPLE), CollectOptions())
    assert guest(files, "207").pending is not None
    stopped = guest(place.collect(), "207")
    assert stopped.pending is None
    assert stopped.configured.label == "host"


def test_guest_that_moves_while_it_is_read(place: Place) -> None:
    place.birch.runs_guest("101", V2)
    found = guest(place.collect(), "101")
    assert found.state is GuestState.RUNNING
    assert "running on the node birch" in found.remarks[-1].text


def test_guest_that_is_only_arriving_runs_where_it_was(place: Place) -> None:
    place.alder.runs_guest("101", V2)
    place.birch.runs_guest("101", V2_AES, "-incoming", "unix:/run/qemu-server/101.migrate")
    found = guest(place.collect(), "101")
    assert found.running is not None
    assert found.running.label == "x86-64-v2"
    assert not found.remarks


def test_offline_node_is_not_tried(place: Place) -> None:
    place.alder.write(
        "etc/pve/.members", '{"nodelist": {"birch": {"online": 0}, "cedar": {"online": 0}}}'
    )
    found = place.collect()
    assert gap(found, "homelab/birch").reason == "the cluster says that this node is offline"
    assert place.birch.commands == []


def test_address_that_the_running_cluster_tells_is_tried_first(place: Place) -> None:
    addresses = {"alder": ["127.0.0.1"], "birch": ["192.0.2.99"]}
    place.alder.write("etc/pve/corosync.conf", pve_node.corosync("homelab", addresses))
    place.alder.write(
        "etc/pve/.members", '{"nodelist": {"birch": {"online": 1, "ip": "127.0.0.2"}}}'
    )
    assert isinstance(host(place.collect(), "birch").cpu, Known)


def test_nodes_vouch_for_each_other(place: Place) -> None:
    place.user.knows(place.first)
    assert "host key is not known" in gap(place.collect(), "homelab/birch").reason
    key = place.second.host_key
    line = f"birch {key.kind} {key.text}\n"
    place.alder.write("etc/pve/nodes/birch/ssh_known_hosts", line)
    assert isinstance(host(place.collect(), "birch").cpu, Known)


def test_nodes_of_old_releases_vouch_for_each_other_in_one_file(place: Place) -> None:
    place.user.knows(place.first)
    key = place.second.host_key
    place.alder.write("etc/ssh/ssh_known_hosts", f"birch,192.0.2.1 {key.kind} {key.text}\n")
    assert isinstance(host(place.collect(), "birch").cpu, Known)


def test_key_that_is_known_by_the_nodes_name(place: Place) -> None:
    place.user.knows(place.first)
    key = place.second.host_key
    with place.user.known_hosts.open("a") as stream:
        stream.write(f"birch {key.kind} {key.text}\n")
    assert isinstance(host(place.collect(), "birch").cpu, Known)


def test_own_known_hosts_beat_what_nodes_say(place: Place, tmp_path: Path) -> None:
    key = place.second.host_key
    place.alder.write("etc/pve/nodes/birch/ssh_known_hosts", f"birch {key.kind} {key.text}\n")
    other = Path(f"{sshd.keygen(tmp_path / 'other')}.pub").read_text()
    place.user.knows(place.first)
    with place.user.known_hosts.open("a") as stream:
        stream.write(f"{place.second.name} {other}")
    assert "HOST KEY HAS CHANGED" in gap(place.collect(), "homelab/birch").reason


def test_other_nodes_get_the_user_and_key_of_the_entrys_alias(place: Place) -> None:
    config = place.user.directory / "config"
    config.write_text(
        f"Host entry\n  HostName 127.0.0.1\n  Port {place.first.port}\n  User {USER}\n"
        f"  IdentityFile {place.user.key}\n"
        f"Host *\n  IdentityAgent none\n  UserKnownHostsFile {place.user.known_hosts}\n"
    )
    options = CollectOptions(ssh=place.user.options())
    assert isinstance(host(SOURCE.collect("pve+ssh://entry", options), "birch").cpu, Known)


def test_server_that_is_another_node_is_told(place: Place) -> None:
    (place.birch.etc_pve / "local").unlink()
    (place.birch.etc_pve / "local").symlink_to("nodes/elm")
    assert "calls itself 'elm'" in gap(place.collect(), "homelab/birch").reason


def test_nodes_are_reached_directly_where_nothing_is_forwarded(tmp_path: Path) -> None:
    with cluster(tmp_path, "AllowTcpForwarding no") as place:
        refused = place.collect()
        assert "administratively prohibited" in gap(refused, "homelab/birch").reason
        place.user.configure(f"Host birch\n  HostName 127.0.0.2\n  Port {place.second.port}\n")
        assert isinstance(host(place.collect(), "birch").cpu, Known)


@pytest.mark.parametrize("address", ["$(touch pwned)", "-oProxyCommand=x", "a b"])
def test_hostile_address_in_the_cluster_is_not_used(place: Place, address: str) -> None:
    addresses = {"alder": ["127.0.0.1"], "birch": [address], "; reboot": ["127.0.0.2"]}
    place.alder.write("etc/pve/corosync.conf", pve_node.corosync("homelab", addresses))
    place.user.configure("Host birch\n  ProxyCommand false %h\n")
    found = place.collect()
    assert "is not the name or address" in gap(found, "homelab/birch").reason
    assert "is not the name or address" in gap(found, "homelab/; reboot").reason
