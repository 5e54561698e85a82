"""What sources collect: hosts, guests, clusters, and the gaps in what could be read.

An `Inventory` is all that judgement needs. Saved and loaded again it gives the same findings as the
live cluster did.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from unmask.model.cpu import Accelerator, CpuSpec, HostCpu, HypervisorCpu, Remark
from unmask.model.reading import Reading
from unmask.model.tie import UNREAD_CONFINEMENT, UNREAD_TIES, Confinement, Tie
from unmask.model.visit import UNVISITED, Declaration, Visit


def own(subject: str, site: str) -> str:
    """Return a subject as it is called inside of its site."""
    return subject.removeprefix(f"{site}:") if site else subject


def _names(site: str, subject: str, *others: str) -> tuple[str, ...]:
    """Return a subject, and what it is called inside of its site, with and without the site."""
    inside = (own(subject, site), *others)
    told = tuple(f"{site}:{name}" for name in others if name) if site else ()
    return tuple(dict.fromkeys((subject, *told, *inside)))


class Platform(StrEnum):
    """The kind of hypervisor that a host or guest belongs to."""

    PROXMOX = "proxmox"
    LIBVIRT = "libvirt"
    UNSEEN = "unseen"
    """The hypervisor is out of reach: only the guest itself was seen (a rented VPS)."""


class GuestState(StrEnum):
    """Whether a guest runs."""

    RUNNING = "running"
    STOPPED = "stopped"
    PAUSED = "paused"
    SUSPENDED = "suspended"
    """Saved to disk; it resumes with the CPU it was started with."""
    UNKNOWN = "unknown"
    """The source cannot tell (a copy of configuration files)."""


class GuestKind(StrEnum):
    """Virtual machine or container."""

    VM = "vm"
    CONTAINER = "container"


@dataclass(frozen=True, slots=True)
class Software:
    """Versions on a host; "" where not known."""

    hypervisor: str = ""
    """"Proxmox VE 9.2.11", "libvirt 9.0.0"."""
    qemu: str = ""
    kernel: str = ""


@dataclass(frozen=True, slots=True)
class Host:
    """A machine that runs guests."""

    subject: str
    """Unique in an inventory: CLUSTER/NODE, or the host's name."""
    name: str
    platform: Platform
    cluster: str
    """`Cluster.subject`, or "" for a single host."""
    cpu: Reading[HostCpu]
    software: Software = Software()
    parameters: tuple[tuple[str, str], ...] = ()
    """KVM's module parameters, sorted: ("kvm_intel.nested", "Y")."""
    offers: tuple[HypervisorCpu, ...] = ()
    site: str = ""
    """The site that it was collected at; its subjects begin with "SITE:". "" where none is told."""

    @property
    def names(self) -> tuple[str, ...]:
        """Return what people may call it, the most exact first."""
        return _names(self.site, self.subject, self.name)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A stored state of a guest and the CPU that it would bring back."""

    name: str
    cpu: CpuSpec
    with_memory: bool = False
    """Holds RAM: resuming it restores the CPU of that moment, whatever is configured now."""


@dataclass(frozen=True, slots=True)
class Guest:
    """A virtual machine or container."""

    subject: str
    """Unique in an inventory: CLUSTER/VMID, or HOST/NAME."""
    ident: str
    """The platform's own identifier: a VMID, a libvirt UUID."""
    name: str
    """As configured; comes from outside and may hold anything printable or not."""
    platform: Platform
    kind: GuestKind
    host: str
    """`Host.subject`."""
    state: GuestState
    arch: str
    accelerator: Accelerator
    configured: CpuSpec
    """What is configured for the guest as it runs now, or for its next start if it is stopped."""
    running: CpuSpec | None = None
    """What the running process was started with, where the source could see that."""
    pending: CpuSpec | None = None
    """A configured change that waits for a stop and start."""
    pending_accelerator: Accelerator | None = None
    """What will run the guest after that start; None where it stays the same."""
    template: bool = False
    os_declared: str = ""
    """The operating system as the configuration declares it: "l26", "win11", a libosinfo id."""
    remarks: tuple[Remark, ...] = ()
    """What was noticed about the configuration beside its CPU."""
    snapshots: tuple[Snapshot, ...] = ()
    location: str = ""
    """Where the configuration was read: a path or URI."""
    lock: str = ""
    """What the hypervisor has locked it for: "backup", "migrate", "suspended"; "" for nothing."""
    high_availability: str = ""
    """The state that the cluster's resource manager keeps it in: "started"; "" if it does not."""
    replicas: tuple[str, ...] = ()
    """Names of the nodes that its disks are replicated to, sorted."""
    declared: tuple[Declaration, ...] = ()
    """What tags, notes and the configuration file say of its workloads, in that order."""
    agent: bool | None = None
    """Whether its options let it have a QEMU guest agent; None where the source does not tell."""
    visit: Visit = UNVISITED
    """What was learnt inside of it, of its disks and over the network."""
    machine: str = ""
    """The machine type in force: "pc-q35-9.2+pve1", "q35"; "" for the default or not known."""
    ties: Reading[tuple[Tie, ...]] = UNREAD_TIES
    """What holds it on its host."""
    confined: Reading[tuple[Confinement, ...]] = UNREAD_CONFINEMENT
    """What the cluster's rules say of where it may be."""
    site: str = ""
    """As `Host.site`."""

    @property
    def names(self) -> tuple[str, ...]:
        """Return what people may call it, the most exact first."""
        return _names(self.site, self.subject, self.ident, self.name)

    @property
    def node(self) -> str:
        """Return the name of its host as its subject has it."""
        return own(self.host, self.site).rpartition("/")[2]

    @property
    def current(self) -> CpuSpec:
        """Return the CPU specification that is in force now."""
        return self.running or self.configured


@dataclass(frozen=True, slots=True)
class Cluster:
    """Hosts between which guests can move."""

    subject: str
    name: str
    platform: Platform
    custom_models: tuple[tuple[str, CpuSpec], ...] = ()
    """Custom CPU models by name without the `custom-` prefix, sorted."""
    site: str = ""
    """As `Host.site`."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that was asked for and could not be read."""

    subject: str
    """What is incomplete: a host, a guest, a target, a file."""
    reason: str
    needs: str = ""
    """The privilege, package or file that would fill the gap."""


@dataclass(frozen=True, slots=True)
class Inventory:
    """Everything that one run has collected, each tuple sorted by subject."""

    targets: tuple[str, ...] = ()
    hosts: tuple[Host, ...] = ()
    guests: tuple[Guest, ...] = ()
    clusters: tuple[Cluster, ...] = ()
    gaps: tuple[Gap, ...] = ()
