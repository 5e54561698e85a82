"""What holds a guest on its host, and where the cluster's rules let it be.

A tie stops a move to a node that is in neither `nodes` nor `copied_to`: the kinds of move that
`live` and `cold` name. Where neither is set, it is only to be known. A device that stops every live
migration, and a cold move only to nodes without its like, is two ties.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from unmask.model.reading import Missing

UNREAD_TIES = Missing("what holds it on its host was not read")
UNREAD_CONFINEMENT = Missing("the cluster's rules on where it may be were not read")


class TieKind(StrEnum):
    """What can hold a guest on its host."""

    PASSTHROUGH = "passthrough"
    """A device of the host: PCI, USB, vGPU, a physical disk."""
    LOCAL_DISK = "local-disk"
    """A disk on storage of this host: other nodes get a copy, or have one by replication."""
    STORAGE = "storage"
    """A disk on shared storage that not every node has, or on storage that is not there."""
    LOCAL_FILE = "local-file"
    """An ISO image or cloud-init drive on storage of this host."""
    HUGEPAGES = "hugepages"
    CONFIDENTIAL = "confidential"
    """SEV, SEV-ES, SEV-SNP or TDX: its memory is bound to this machine's firmware."""
    AFFINITY = "affinity"
    """Pinned to processors or NUMA nodes of the host."""
    RESOURCE = "resource"
    """A bridge, a socket or a directory of the host: virtiofs, ivshmem, a serial device."""
    SNAPSHOTS = "snapshots"
    """libvirt migrates no domain that has some."""


@dataclass(frozen=True, slots=True)
class Tie:
    """One thing that holds a guest on its host."""

    kind: TieKind
    what: str
    """As the configuration has it: "hostpci0", "scsi0 on local-lvm"."""
    nodes: tuple[str, ...] = ()
    """The nodes that have it too (a mapping, replication, a storage's node list), sorted."""
    live: bool = True
    """Whether it stops a live migration."""
    cold: bool = True
    """Whether it stops a move of the stopped guest."""
    copied_to: tuple[str, ...] = ()
    """The nodes to which the move itself copies it, sorted: that takes the time of a copy, and the
    live migration of a disk asks for it (Proxmox VE: `--with-local-disks`)."""
    unread: Missing | None = None
    """Why it is not known whether it stops what `live` and `cold` name; None where it is known."""

    def holds(self, node: str) -> bool:
        """Return whether a move to the node of this name meets it."""
        return node not in self.nodes and node not in self.copied_to


@dataclass(frozen=True, slots=True)
class Confinement:
    """A rule of the cluster on where a guest may be."""

    rule: str
    """Its name: "ha-rule-db", "group prefer-pve1"."""
    nodes: tuple[str, ...] = ()
    """Names of the nodes where it may be; none for a rule about other guests."""
    strict: bool = True
    """False: a preference."""
    apart: tuple[str, ...] = ()
    """`Guest.subject` of those that it may not share a node with."""
    together: tuple[str, ...] = ()
    """`Guest.subject` of those that it has to share a node with: they move along."""
