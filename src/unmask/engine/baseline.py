"""The answer to `unmask baseline`: from an inventory and its guests to what a report shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from unmask.cpu import baseline as common_ground
from unmask.cpu import drift
from unmask.cpu.model_fit import FAMILY_NOTE
from unmask.dialects.described_host import spoken
from unmask.engine import custom_models, needs
from unmask.engine.arrival import arrival
from unmask.errors import UsageError
from unmask.model.baseline import Baseline, BaselineDocument, Drift, Proposal
from unmask.model.case import GuestCase
from unmask.model.cpu import Accelerator
from unmask.model.inventory import GuestKind, Host, Inventory
from unmask.model.reading import Known
from unmask.model.report import Run

NAMED = 5
"""Guests that a remark names one by one."""
BOTH = frozenset({"aes", "pclmulqdq"})
NO_X86 = "There is no custom model: the nodes are not of x86, or their flags are not known."


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a baseline beside the inventory."""

    nodes: tuple[str, ...] = ()
    """Names or subjects of hosts; none means all."""
    needs: tuple[str, ...] = ()
    """Flags in our spelling; none means what the guests' work needs."""
    arriving: tuple[Host, ...] = ()
    """Machines that may become nodes."""
    earlier: Inventory | None = None
    compared: str = ""
    """The file of the earlier inventory."""


def build(
    inventory: Inventory,
    cases: Sequence[GuestCase],
    question: Question,
    *,
    version: str,
    started: str,
) -> BaselineDocument:
    """Return the whole answer.

    Raises:
        UsageError: A chosen node is not in the inventory, or there is no host at all.
    """
    hosts = chosen(inventory.hosts, question.nodes)
    inside = [case for case in cases if case.guest.host in {host.subject for host in hosts}]
    wanted = needs.asked(question.needs) if question.needs else needs.of_guests(inside)
    windows = [case for case in inside if needs.counted(case) and needs.windows(case.guest)]
    found = common_ground.baseline(hosts, wanted, windows=bool(windows), spoken=spoken())
    taken = {name for cluster in inventory.clusters for name, _ in cluster.custom_models}
    made = custom_models.proposals(found, taken, windows=bool(windows))
    remarks = (*found.remarks, *_windows(found, made, windows), *_not_counted(inside))
    complete = not inventory.gaps and not found.unknown
    return BaselineDocument(
        run=Run(version, started, inventory.targets, complete),
        baseline=replace(found, remarks=remarks),
        proposals=made,
        no_proposal="" if made else (NO_X86 if found.level is None else custom_models.NO_BASE),
        arrivals=tuple(
            arrival(found, new, inside, windows=bool(windows), spoken=spoken())
            for new in _new(hosts, question.arriving)
        ),
        drift=_drift(question, hosts),
        compared=question.compared,
        gaps=inventory.gaps,
    )


def chosen(hosts: Sequence[Host], names: Sequence[str]) -> tuple[Host, ...]:
    """Return the hosts of these names or subjects, in the inventory's order; all without names.

    Raises:
        UsageError: There is no such host, or no host at all.
    """
    if not hosts:
        raise UsageError("no host was read: a baseline takes hosts, and this target shows none")
    unknown = [name for name in names if not any(name in host.names for host in hosts)]
    if unknown:
        known = ", ".join(host.name for host in hosts)
        raise UsageError(f"--nodes: there is no node {unknown[0]!r}; there are {known}")
    wanted = set(names)
    found = [host for host in hosts if not wanted or wanted.intersection(host.names)]
    return tuple(_apart(found))


def _apart(hosts: Sequence[Host]) -> Iterator[Host]:
    """Two hosts of one name, in different clusters, go by their subjects."""
    count = Counter(host.name for host in hosts)
    for host in hosts:
        yield host if count[host.name] == 1 else replace(host, name=host.subject)


def _new(hosts: Sequence[Host], arriving: Sequence[Host]) -> Iterator[Host]:
    """A new node whose file is called like a node is told apart from that."""
    taken = {host.name for host in hosts}
    for host in arriving:
        yield replace(host, name=f"{host.name} (new)") if host.name in taken else host


def _drift(question: Question, hosts: Sequence[Host]) -> tuple[Drift, ...] | None:
    if question.earlier is None:
        return None
    earlier = question.earlier.hosts
    if question.nodes:
        subjects = {host.subject for host in hosts}
        earlier = tuple(host for host in earlier if host.subject in subjects)
    return drift.drift(earlier, hosts, spoken())


def _windows(
    found: Baseline, made: Sequence[Proposal], guests: Sequence[GuestCase]
) -> Iterator[str]:
    if not guests or not found.models:
        return
    names = _names(guests)
    served = [
        fit
        for fit in common_ground.running(found.models)
        if fit.flags >= BOTH and FAMILY_NOTE not in fit.notes
    ]
    why = (
        "host also shows the flags for nested virtualisation and for defences, with which Windows "
        "(VBS) becomes slower, and ties a guest to nodes with the same CPU"
    )
    if served:
        yield f"Windows runs in {names}: take {served[0].name} there rather than host: {why}."
        return
    text = f"Windows runs in {names}: no named model shows it AES and PCLMULQDQ on all nodes"
    if any(item.model.flags >= BOTH and FAMILY_NOTE not in item.model.notes for item in made):
        yield f"{text}, and the custom model does. Take that rather than host: {why}."
    else:
        yield f"{text}. host is no way out: {why}."


def _not_counted(cases: Sequence[GuestCase]) -> Iterator[str]:
    machines = [case for case in cases if case.guest.kind is GuestKind.VM]
    emulated = [case for case in machines if case.view.accelerator is Accelerator.TCG]
    if emulated:
        yield (
            f"QEMU emulates the CPU of {_names(emulated)}: no flag of a node reaches it, and its "
            "needs are not counted."
        )
    foreign = [
        case for case in machines if case not in emulated and case.view.arch and not case.view.x86
    ]
    if foreign and any(_x86(case) for case in foreign):
        yield f"x86 models mean nothing to {_names(foreign)}, of another architecture."


def _x86(case: GuestCase) -> bool:
    host = case.host
    if not isinstance(host, Known) or not isinstance(host.value.cpu, Known):
        return False
    return host.value.cpu.value.arch in ("x86_64", "i686")


def _names(cases: Sequence[GuestCase]) -> str:
    names = [case.guest.name or case.guest.subject for case in cases]
    more = len(names) - NAMED
    if more > 0:
        return f"{', '.join(names[:NAMED])} and {more} more"
    return ", ".join(names[:-1]) + (" and " if names[:-1] else "") + names[-1]
