"""What a set of nodes has in common, and the CPU models that all of them can run.

Flags are in our spelling (`unmask.cpu.features`), lists of them sorted unless said otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from unmask.model.inventory import Gap, Host
from unmask.model.report import Run


class FlagSource(StrEnum):
    """Who says which flags a node can give to guests."""

    HYPERVISOR = "hypervisor"
    """The hypervisor itself: libvirt's domain capabilities, the cluster's list of CPU flags."""
    KERNEL = "kernel"
    """/proc/cpuinfo, and what is known of which of its flags KVM passes on."""
    CAPABILITIES = "capabilities"
    """libvirt's description of the physical CPU, which is silent on flags it does not know."""


@dataclass(frozen=True, slots=True)
class Node:
    """A host whose flags are known, as a baseline sees it."""

    host: Host
    arch: str
    vendor: str
    """CPUID vendor; "" where it is not known."""
    source: FlagSource
    given: frozenset[str]
    """What a guest can surely be given here."""
    spoken: frozenset[str] | None = None
    """The flags whose absence from `given` means something; None: all that its source lists."""
    usable: tuple[tuple[str, bool], ...] = ()
    """The hypervisor's own answers on named models; none where it was not asked."""

    @property
    def name(self) -> str:
        """Return the node's name for people."""
        return self.host.name


@dataclass(frozen=True, slots=True)
class UnknownNode:
    """A chosen host of whose flags nothing is known: what is said holds without it."""

    host: Host
    reason: str
    needs: str = ""


class Verdict(StrEnum):
    """Whether a node can run a model."""

    RUNS = "runs"
    LACKS = "lacks"
    """It does not start there."""
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why one node cannot run a model, or why that is not known."""

    node: str
    """The node's name."""
    verdict: Verdict
    """LACKS or UNKNOWN."""
    reason: str
    """The rest of a sentence that begins with the node: "lacks avx2"."""
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelFit:
    """A named model, held against every node."""

    name: str
    base: str
    """The QEMU model behind it; the same as `name` for QEMU's own."""
    vendor: str
    """CPUID vendor of the CPUs that it is made for; "" for a model of no vendor."""
    flags: frozenset[str]
    """What a guest sees of it under KVM."""
    level: int
    """x86-64 level, 0 to 4."""
    shows: tuple[str, ...]
    """Of the needs, in their order."""
    lacks: tuple[str, ...]
    """The other needs."""
    obstacles: tuple[Obstacle, ...] = ()
    """At most one a node; none where all can run it."""
    notes: tuple[str, ...] = ()

    @property
    def fits(self) -> bool:
        """Return whether every known node can run it."""
        return not self.obstacles


@dataclass(frozen=True, slots=True)
class CustomModel:
    """A model of one's own: one of QEMU's, and what is changed in it."""

    base: str
    on: frozenset[str]
    """Flags turned on beside the base."""
    off: frozenset[str]
    """Flags of the base that are turned off."""
    flags: frozenset[str]
    """All that a guest surely sees of it."""
    level: int
    shows: tuple[str, ...]
    lacks: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Needs:
    """What the models are ranked by."""

    flags: tuple[str, ...]
    """What is needed, the most important first."""
    helpful: tuple[str, ...] = ()
    """What makes some of it faster still; decides between models that are equal in `flags`."""
    origin: str = ""
    """Where that comes from, the rest of a sentence: "named with --need"."""
    guests: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Each flag with the subjects of the guests whose work needs it."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """What all chosen nodes have in common."""

    nodes: tuple[Node, ...]
    unknown: tuple[UnknownNode, ...]
    needs: Needs
    common: frozenset[str] = frozenset()
    """What a guest can surely be given on every known node."""
    open: frozenset[str] = frozenset()
    """Given on some nodes, and not known of the others."""
    level: int | None = None
    """The x86-64 level of `common`; None for another architecture, or where nothing is known."""
    held_back: tuple[tuple[str, frozenset[str]], ...] = ()
    """Each node's name with the flags that all the others have and only it lacks."""
    alike: tuple[tuple[str, ...], ...] = ()
    """Names of nodes, two or more a group, that have the same CPU, flags and microcode."""
    models: tuple[ModelFit, ...] = ()
    """Best first: those that fit everywhere, then the others."""
    unlocked: tuple[tuple[str, str], ...] = ()
    """Nodes that alone stand in the way of a better model, each with the best of those."""
    remarks: tuple[str, ...] = ()
    """Full sentences: what the answer does not hold for, and what to know about it."""

    @property
    def best(self) -> ModelFit | None:
        """Return the best model that all known nodes can run."""
        return self.models[0] if self.models and self.models[0].fits else None


@dataclass(frozen=True, slots=True)
class Stopped:
    """A guest that a new node could not start, or not as it is now."""

    guest: str
    """Its subject."""
    name: str
    starts: bool
    """False where it does not start there at all."""
    flags: tuple[str, ...]
    """What it would have to do without."""
    reason: str
    """The rest of a sentence that begins with the guest."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """What a new node would do to a baseline."""

    node: str
    flags_lost: tuple[str, ...]
    """Common flags that the new node surely lacks."""
    flags_open: tuple[str, ...]
    """Common flags of which it is not known whether it has them."""
    level_before: int | None
    level_after: int | None
    models_lost: tuple[str, ...]
    """Models that all nodes can run now and that the new one cannot, best first."""
    models_open: tuple[str, ...]
    best_before: str
    best_after: str
    guests: tuple[Stopped, ...]
    remarks: tuple[str, ...] = ()
    known: bool = True
    """False where its flags are not known, so that nothing is lost for sure."""


@dataclass(frozen=True, slots=True)
class Drift:
    """How one node differs from what an earlier inventory says of it."""

    node: str
    """Its subject."""
    lost: tuple[str, ...] = ()
    gained: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    """What else changed, a sentence each: CPU, microcode, kernel, QEMU, hypervisor."""
    unknown: str = ""
    """Why its flags cannot be compared, as the rest of a sentence; "" where they can."""
    presence: str = ""
    """"new" or "gone" where only one of the inventories has the node."""

    @property
    def changed(self) -> bool:
        """Return whether there is anything to say of it."""
        return bool(self.lost or self.gained or self.evidence or self.unknown or self.presence)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A custom model in the words of one platform."""

    platform: str
    """"proxmox" or "libvirt"."""
    name: str
    """Under which Proxmox VE knows it, without `custom-`; "" for libvirt."""
    model: CustomModel
    text: str
    """A section of cpu-models.conf, or a `<cpu>` element; both end with a line break."""
    command: str = ""
    """The `-cpu` value that comes of it, where the platform has one form of it."""


@dataclass(frozen=True, slots=True)
class BaselineDocument:
    """Everything that a report on a baseline may show."""

    run: Run
    baseline: Baseline
    proposals: tuple[Proposal, ...] = ()
    no_proposal: str = ""
    """Why there is no custom model, a full sentence; "" where there is one."""
    arrivals: tuple[Arrival, ...] = ()
    drift: tuple[Drift, ...] | None = None
    """None where no earlier inventory was given."""
    compared: str = ""
    """The file of the earlier inventory."""
    gaps: tuple[Gap, ...] = ()
