"""From the files of a cluster and what its nodes tell of themselves to an inventory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from unmask.dialects.proxmox import processes
from unmask.dialects.proxmox.node import NodeFacts
from unmask.dialects.proxmox.processes import Process
from unmask.model.cpu import CpuSpec, Remark, RemarkKind
from unmask.model.inventory import Gap, Guest, GuestKind, Host, Inventory
from unmask.model.reading import Missing
from unmask.sources import _pve_tree
from unmask.sources._file_tree import FileTree

ROOT = "root on the node"
LEFT = Missing("it is no member of the cluster any more")


def inventory(
    tree: FileTree, entry: NodeFacts, facts: Mapping[str, NodeFacts], unread: Mapping[str, Missing]
) -> Inventory:
    """Return what is known of a cluster.

    Args:
        tree: Its files; `target` is put in front of paths.
        entry: What the node told that sent them.
        facts: What all nodes told, that one included, by name.
        unread: Why others told nothing, by name.
    """
    told = {f"nodes/{name}/cpuinfo": node.cpuinfo for name, node in facts.items() if node.cpuinfo}
    versions = {name: node.version for name, node in facts.items()}
    found = _pve_tree.inventory(
        tree.files | told, entry.name, tree.target, tree.gaps, entry.version, versions
    )
    hosts = tuple(_host(host, facts, unread) for host in found.hosts)
    gaps = (gap for host in hosts for gap in _gaps(host, facts))
    custom = {name: spec for cluster in found.clusters for name, spec in cluster.custom_models}
    running = {
        (name, process.kind, process.vmid): process
        for name, node in facts.items()
        for process in node.processes or ()
    }
    nodes = {host.subject: host.name for host in hosts}
    seen = _Seen(facts, running, nodes, custom, entry.version)
    return replace(
        found,
        hosts=hosts,
        guests=tuple(seen.guest(guest) for guest in found.guests),
        gaps=(*found.gaps, *gaps),
    )


def _host(host: Host, facts: Mapping[str, NodeFacts], unread: Mapping[str, Missing]) -> Host:
    told = facts.get(host.name)
    if told is None:
        return replace(host, cpu=unread.get(host.name, LEFT))
    cpu = host.cpu if told.cpuinfo else Missing("its /proc/cpuinfo could not be read", ROOT)
    return replace(host, cpu=cpu, software=told.software, parameters=told.parameters)


def _gaps(host: Host, facts: Mapping[str, NodeFacts]) -> Iterator[Gap]:
    if isinstance(host.cpu, Missing):
        yield Gap(host.subject, host.cpu.reason, host.cpu.needs)
    told = facts.get(host.name)
    if told is not None and told.processes is None:
        reason = "its processes are hidden, so that it is not known which guests run, and with what"
        yield Gap(host.subject, reason, ROOT)


@dataclass(frozen=True, slots=True)
class _Seen:
    """The processes of all nodes."""

    facts: Mapping[str, NodeFacts]
    running: Mapping[tuple[str, GuestKind, str], Process]
    """By node, kind and VMID."""
    nodes: Mapping[str, str]
    """Node by host's subject."""
    custom: Mapping[str, CpuSpec]
    version: str

    def guest(self, guest: Guest) -> Guest:
        """Return a guest with what its process tells; untouched where none could be looked for."""
        node = self.nodes[guest.host]
        told = self.facts.get(node)
        own = self.running.get((node, guest.kind, guest.ident))
        elsewhere, other = (None, "") if own else self._elsewhere(guest)
        if elsewhere is not None:
            said = f"The guest was found running on the node {other}: it moved while it was read."
            guest = replace(guest, remarks=(*guest.remarks, Remark(RemarkKind.NOTE, said)))
        elif own is None and (told is None or told.processes is None):
            return guest
        version = told.version if told else self.version
        return processes.observed(guest, own or elsewhere, self.custom, version)

    def _elsewhere(self, guest: Guest) -> tuple[Process | None, str]:
        for other in self.facts:
            found = self.running.get((other, guest.kind, guest.ident))
            if found is not None and not found.incoming:
                return found, other
        return None, ""
