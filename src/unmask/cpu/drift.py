"""What has become of nodes since an earlier inventory: flags lost and gained, and perhaps why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unmask.cpu.node_flags import node
from unmask.model.baseline import Drift, FlagSource, Node, UnknownNode
from unmask.model.cpu import HostCpu
from unmask.model.inventory import Host
from unmask.model.reading import Known

SOFTWARE = (("kernel", "The kernel"), ("qemu", "QEMU"), ("hypervisor", "The hypervisor"))
SOURCES = {
    FlagSource.HYPERVISOR: "the hypervisor",
    FlagSource.KERNEL: "its kernel",
    FlagSource.CAPABILITIES: "libvirt's description of the CPU",
}
SILENT = (
    "Neither the CPU, its microcode nor the versions of kernel and hypervisor differ as far as "
    "they are known: look at the firmware's settings, and at options of the kernel."
)


def drift(
    earlier: Sequence[Host], now: Sequence[Host], spoken: frozenset[str] | None = None
) -> tuple[Drift, ...]:
    """Return one record for each host of either inventory, by subject.

    Args:
        earlier: The hosts of the earlier inventory.
        now: The hosts as they are.
        spoken: See `node_flags.node`.
    """
    before = {host.subject: host for host in earlier}
    after = {host.subject: host for host in now}
    return tuple(
        _drift(subject, before.get(subject), after.get(subject), spoken)
        for subject in sorted(before.keys() | after.keys())
    )


def _drift(
    subject: str, then: Host | None, now: Host | None, spoken: frozenset[str] | None
) -> Drift:
    if then is None or now is None:
        return Drift(subject, presence="new" if then is None else "gone")
    old, new = node(then, spoken), node(now, spoken)
    evidence = tuple(_evidence(then, now))
    if isinstance(old, UnknownNode):
        return Drift(subject, evidence=evidence, unknown=f"were not known then: {old.reason}")
    if isinstance(new, UnknownNode):
        return Drift(subject, evidence=evidence, unknown=f"are not known now: {new.reason}")
    if old.source is not new.source:
        said = f"were told by {SOURCES[old.source]} then and by {SOURCES[new.source]} now"
        return Drift(subject, evidence=evidence, unknown=said)
    lost, gained = _listed(old, new), _listed(new, old)
    if (lost or gained) and not evidence:
        evidence = (SILENT,)
    return Drift(subject, lost, gained, evidence)


def _listed(one: Node, other: Node) -> tuple[str, ...]:
    """Return what guests can be given on `one` and not on `other`, sorted."""
    return tuple(sorted(one.given - other.given))


def _evidence(then: Host, now: Host) -> Iterator[str]:
    old = then.cpu.value if isinstance(then.cpu, Known) else None
    new = now.cpu.value if isinstance(now.cpu, Known) else None
    if old and new:
        yield from _silicon(old, new)
    for field, what in SOFTWARE:
        before, after = getattr(then.software, field), getattr(now.software, field)
        if before and after and before != after:
            yield f"{what} was {before} and is {after} now."
    changed = dict(now.parameters).items() ^ dict(then.parameters).items()
    for name in sorted({name for name, _ in changed}):
        before = dict(then.parameters).get(name, "not set")
        after = dict(now.parameters).get(name, "not set")
        yield f"KVM's parameter {name} was {before} and is {after} now."


def _silicon(old: HostCpu, new: HostCpu) -> Iterator[str]:
    if old.model_name and new.model_name and old.model_name != new.model_name:
        yield f"The CPU was {old.model_name} and is {new.model_name} now: this is other hardware."
    if old.microcode and new.microcode and old.microcode != new.microcode:
        yield f"The microcode was {old.microcode} and is {new.microcode} now."
    if old.bugs != new.bugs and (old.bugs or new.bugs):
        more = " ".join(sorted(new.bugs - old.bugs))
        fewer = " ".join(sorted(old.bugs - new.bugs))
        parts = [f"{more} more" if more else "", f"{fewer} no longer" if fewer else ""]
        yield f"The kernel lists other vulnerabilities: {', '.join(filter(None, parts))}."
