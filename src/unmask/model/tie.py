"""What holds a guest on its host, and where the cluster's rules let it be."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from unmask.model.reading import Missing

UNREAD_TIES = Missing("what holds it on its host was not read")


class TieKind(StrEnum):
    """What can hold a guest on its host."""

    PASSTHROUGH = "passthrough"
    """A device of the host: PCI, USB, vGPU, a physical disk."""
    LOCAL_DISK = "local-disk"
    """A disk on storage that only this host has."""
    LOCAL_FILE = "local-file"
    """An ISO image or cloud-init drive on such storage."""
    HUGEPAGES = "hugepages"
    CONFIDENTIAL = "confidential"
    """SEV, SEV-ES, SEV-SNP or TDX: its memory is bound to this machine's firmware."""
    AFFINITY = "affinity"
    """Pinned to processors or NUMA nodes of the host."""
    RESOURCE = "resource"
    """A bridge, a socket or a directory of the host: virtiofs, ivshmem, a serial device."""


@dataclass(frozen=True, slots=True)
class Tie:
    """One thing that holds a guest on its host."""

    kind: TieKind
    what: str
    """As the configuration has it: "hostpci0", "scsi0 on local-lvm"."""
    nodes: tuple[str, ...] = ()
    """The nodes that have it all the same (a mapping, replication, a storage's node list)."""
    live: bool = True
    """Whether it stops a live migration."""
    cold: bool = True
    """Whether it stops a move of the stopped guest."""


@dataclass(frozen=True, slots=True)
class Confinement:
    """A rule of the cluster on where a guest may be."""

    rule: str
    """Its name: "ha-rule-db", "group prefer-pve1"."""
    nodes: tuple[str, ...] = ()
    """Where it may be; none for a rule about other guests."""
    strict: bool = True
    """False: a preference."""
    apart: tuple[str, ...] = ()
    """Guests that it may not share a node with."""
    together: tuple[str, ...] = ()
    """Guests that it has to share a node with."""
