"""Two audits and what changed between them.

`Audit` is what a comparison needs of one: as a JSON report has it, whoever wrote that.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from unmask.model.finding import Accepted, Finding, Severity, Skip
from unmask.model.inventory import Gap, own


@dataclass(frozen=True, slots=True)
class SeenWorkload:
    """Something that encrypts in a guest, and how it fares."""

    kind: str
    name: str
    status: str
    """"software", "hardware" and so on."""


@dataclass(frozen=True, slots=True)
class SeenGuest:
    """A guest as an audit shows it."""

    subject: str
    ident: str
    name: str
    platform: str
    host: str
    """The host's subject."""
    site: str = ""
    effective: str = ""
    """The CPU that it sees, in the operator's words."""
    features: tuple[tuple[str, str], ...] = ()
    """Flags with "shown", "hidden", "host" or "unknown", by flag."""
    workloads: tuple[SeenWorkload, ...] = ()
    looks: frozenset[str] = frozenset()
    """What was seen beside its configuration: "inside", "disks", "endpoints", "cpu"."""
    lacks: tuple[tuple[str, str], ...] = ()
    """What could not be seen in full inside of it: a probe and why."""
    blind: frozenset[str] = frozenset()
    """Kinds of workloads that could not be looked for."""
    closed: str = ""
    """Why nobody got in, where somebody tried."""
    state: str = ""
    """"running", "stopped" and so on; "unknown" where only its configuration was read."""

    @property
    def node(self) -> str:
        """Return the name of its host as its subject has it."""
        return own(self.host, self.site).rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class SeenHost:
    """A host as an audit shows it."""

    subject: str
    name: str
    cluster: str = ""
    """The cluster's subject, "" for a single host."""
    site: str = ""
    cpu: str = ""
    flags: frozenset[str] | None = None
    """None where they could not be read."""


@dataclass(frozen=True, slots=True)
class Audit:
    """One audit; what it found is as the JSON report has it."""

    version: str
    """Of unmask."""
    started: str
    """ISO 8601 in UTC; "" where an inventory was judged for the comparison."""
    targets: tuple[str, ...]
    complete: bool
    rules: tuple[str, ...] = ()
    """Codes that were judged by; none where the report does not tell."""
    file: str = ""
    """As the command line has it."""
    clusters: tuple[str, ...] = ()
    """Their subjects."""
    hosts: tuple[SeenHost, ...] = ()
    guests: tuple[SeenGuest, ...] = ()
    findings: tuple[Finding, ...] = ()
    accepted: tuple[Accepted, ...] = ()
    skips: tuple[Skip, ...] = ()
    gaps: tuple[Gap, ...] = ()


class Change(StrEnum):
    """What became of a finding."""

    NEW = "new"
    SEEN = "newly-checked"
    """It is there now, and the earlier audit could not have told."""
    REOPENED = "no-longer-accepted"
    CHANGED = "changed"
    """In its severity, or in what it says."""
    UNCHECKED = "no-longer-checked"
    """It was there, and the later audit could not tell."""
    ACCEPTED = "accepted"
    GONE = "gone"
    UNCHANGED = "unchanged"

    @property
    def mirrored(self) -> Change:
        """Return what the same is where old and new change places."""
        return _MIRROR.get(self, self)


_MIRROR = {
    Change.NEW: Change.GONE,
    Change.GONE: Change.NEW,
    Change.SEEN: Change.UNCHECKED,
    Change.UNCHECKED: Change.SEEN,
    Change.REOPENED: Change.ACCEPTED,
    Change.ACCEPTED: Change.REOPENED,
}


@dataclass(frozen=True, slots=True)
class FindingChange:
    """A finding that at least one of the audits has open."""

    change: Change
    before: Finding | None
    after: Finding | None
    note: str = ""
    """Why it could not be checked, or what else is to be known."""

    @property
    def shown(self) -> Finding:
        """Return the finding as it is now, else as it was."""
        found = self.after or self.before
        if found is None:
            raise ValueError("a change of a finding that neither audit has")
        return found

    @property
    def worse(self) -> Severity | None:
        """Return the severity that was not there before; None where nothing became worse."""
        if self.after is None or self.change in (Change.UNCHANGED, Change.ACCEPTED):
            return None
        now = self.after.problem.severity
        if self.change is Change.CHANGED and self.before is not None:
            return now if now > self.before.problem.severity else None
        return now


class Passage(StrEnum):
    """What became of a guest, node or cluster."""

    CAME = "came"
    WENT = "went"
    MOVED = "moved"
    RENAMED = "renamed"
    """It has another name: perhaps it is another guest that was given the same VMID."""
    SEEN = "not-seen-before"
    """It is there, and the earlier audit could have missed it."""
    UNSEEN = "no-longer-seen"
    """It is not there, and the later audit may have missed it."""


@dataclass(frozen=True, slots=True)
class Passing:
    """A guest, node or cluster that came, went or moved."""

    what: str
    """"guest", "node" or "cluster"."""
    passage: Passage
    subject: str
    """Now, else before."""
    name: str
    origin: str = ""
    """Of a guest: the node where it was, "" for none."""
    target: str = ""
    note: str = ""
    """Why it may have been missed; what it was called before, where that was something else."""


@dataclass(frozen=True, slots=True)
class CpuChange:
    """A guest or node that sees, or has, another CPU."""

    what: str
    """"guest" or "node"."""
    subject: str
    name: str
    before: str
    after: str
    won: tuple[str, ...] = ()
    """Flags that were surely hidden and are surely shown, sorted."""
    lost: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class WorkloadChange:
    """A workload of a guest that fares otherwise, or came or went."""

    subject: str
    """The guest's."""
    name: str
    """The guest's."""
    kind: str
    workload: str
    before: str
    """Its status; "none" where it was not there, "not seen" where that is not known."""
    after: str


@dataclass(frozen=True, slots=True)
class Difference:
    """All that changed from one audit to another."""

    old: Audit
    new: Audit
    findings: tuple[FindingChange, ...] = ()
    """All that are open in one of them, by change, then as in an audit."""
    passings: tuple[Passing, ...] = ()
    cpus: tuple[CpuChange, ...] = ()
    workloads: tuple[WorkloadChange, ...] = ()
    gaps: tuple[tuple[Gap, ...], tuple[Gap, ...]] = ((), ())
    """Those that came, and those that are filled."""
    skips: tuple[tuple[Skip, ...], tuple[Skip, ...]] = ((), ())
    """Checks that cannot be made any more, and those that can be made now."""
    notes: tuple[str, ...] = ()
    """What the two runs do not have in common, a sentence each."""
    complete: bool = True
    """False where something could not be read or checked in one of them."""
