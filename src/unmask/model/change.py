"""A change of a guest's CPU: what is planned, what it costs, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from unmask.model.inventory import Platform


class Phase(StrEnum):
    """How far a change of one guest has come; the journal holds each before it is begun."""

    PLANNED = "planned"
    ACKNOWLEDGED = "acknowledged"
    WRITING = "writing"
    """The hypervisor is being told; whether it took it is not known."""
    WRITTEN = "written"
    """It was read back and is as planned."""
    STOPPING = "stopping"
    STARTING = "starting"
    VERIFYING = "verifying"
    DONE = "done"
    UNDOING = "undoing"
    UNDONE = "undone"
    """What was there before is there again."""
    REFUSED = "refused"
    """Nothing was written: a constraint, a difference, or the hypervisor's refusal."""
    FAILED = "failed"

    @property
    def settled(self) -> bool:
        """Return whether nothing is left open: the guest is surely old or surely new."""
        return self in (
            Phase.PLANNED,
            Phase.ACKNOWLEDGED,
            Phase.WRITTEN,
            Phase.DONE,
            Phase.UNDONE,
            Phase.REFUSED,
        )


@dataclass(frozen=True, slots=True)
class Place:
    """Which guest, and where its configuration is changed."""

    target: str
    """As the operator wrote it: "pve://pve1", "qemu:///system"."""
    subject: str
    """`Guest.subject`."""
    ident: str
    """VMID or UUID."""
    name: str
    platform: Platform
    node: str = ""
    login: str = ""
    """Name of the configured target whose login is used; "" for none."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What a configuration says of the CPU, verbatim."""

    value: str | None
    """Proxmox VE's `cpu` value, or libvirt's <cpu> element; None where the option is not set."""
    digest: str = ""
    """Of the whole configuration when this was read: Proxmox VE's own, or SHA-256 of the XML
    without its <cpu>."""
    made: str = ""
    """When the guest was made (Proxmox VE's `meta: ctime=`): a VMID can be used again; "" where
    nothing tells."""

    def of_another_guest(self, other: Setting) -> bool:
        """Return whether the two surely were read of different guests under one identifier."""
        return bool(self.made and other.made) and self.made != other.made


@dataclass(frozen=True, slots=True)
class Gain:
    """What the change does to one workload."""

    workload: str
    """"zfs tank"."""
    before: str
    """Status and share of the speed: "software, keeps 0.6 %"."""
    after: str
    helps: bool
    why: str = ""


@dataclass(frozen=True, slots=True)
class Constraint:
    """Something that the operator has to take on before anything is written."""

    code: str
    """Of the rule: "MIG002", "RST001"."""
    message: str
    acknowledged: bool = False
    fatal: bool = False
    """It cannot be acknowledged: the change would be useless or impossible."""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that will be done, in order."""

    what: str
    """A sentence: "Set cpu to host (digest 3f...)."""
    command: str = ""
    """The command that an operator would type for it."""


@dataclass(frozen=True, slots=True)
class Reach:
    """Whether a guest can go to one other node, before and after the change."""

    node: str
    """The node's name."""
    before: str
    """"possible", "blocked" or "unknown": live where the guest runs or may run, else stopped."""
    after: str


@dataclass(frozen=True, slots=True)
class Plan:
    """The change of one guest."""

    place: Place
    wish: str
    """`--cpu` as it was written."""
    before: Setting
    after: Setting
    gained: tuple[str, ...] = ()
    """CPU flags, sorted."""
    lost: tuple[str, ...] = ()
    gains: tuple[Gain, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    steps: tuple[Step, ...] = ()
    custom_model: str = ""
    """The section of cpu-models.conf that has to be made first; "" for none."""
    reach: tuple[Reach, ...] = ()
    """The other nodes of its cluster."""
    notes: tuple[str, ...] = ()
    """Full sentences: how the wish was understood, what could not stay."""

    @property
    def changes(self) -> bool:
        """Return whether there is anything to write."""
        return self.before.value != self.after.value

    @property
    def open(self) -> tuple[Constraint, ...]:
        """Return the constraints that keep it from being applied."""
        return tuple(item for item in self.constraints if item.fatal or not item.acknowledged)
