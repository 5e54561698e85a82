"""From an inventory to cases: each subject with everything that judging it needs.

Ten thousand guests usually share a few dozen CPU specifications and a few host CPUs, so views are
resolved once for each combination and shared, as are the tuples of peers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from unmask.cpu.resolve import resolve
from unmask.engine import figures, workloads
from unmask.engine.observer import Observer, Sight
from unmask.model.bench import BenchResult
from unmask.model.case import ClusterCase, GuestCase, HostCase
from unmask.model.cpu import Accelerator, CpuSpec, FeatureView, HostCpu, HypervisorCpu
from unmask.model.inventory import Cluster, Guest, Host, Inventory, Platform
from unmask.model.reading import Known, Missing, Reading
from unmask.model.workload import Finder

Place: TypeAlias = tuple[Reading[HostCpu], tuple[HypervisorCpu, ...], str]
"""What a view depends on beside the guest: the host's CPU, the hypervisor's offers, and QEMU."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What every guest of one host shares."""

    host: Reading[Host]
    cluster: Cluster | None
    peers: tuple[Host, ...]
    place: Place
    number: int
    """The same for hosts whose place is equal; stands for the place where views are looked up."""


def guest_cases(
    inventory: Inventory,
    finders: Sequence[Finder] = (),
    measured: Sequence[BenchResult] = (),
) -> tuple[GuestCase, ...]:
    """Return one case a guest, in the inventory's order.

    Args:
        inventory: What was read.
        finders: What looks for encrypted workloads.
        measured: What CPU models were measured to amount to on nodes.
    """
    around = _surroundings(inventory)
    views: dict[tuple[CpuSpec, str, Accelerator, int], FeatureView] = {}

    def view(
        spec: CpuSpec, guest: Guest, accelerator: Accelerator, where: Surroundings
    ) -> FeatureView:
        key = (spec, guest.arch, accelerator, where.number)
        found = views.get(key)
        if found is None:
            found = views[key] = resolve(spec, guest.arch, accelerator, *where.place)
        return found

    observer = Observer()
    cases = []
    for guest in inventory.guests:
        where = around.get(guest.host) or _elsewhere(guest.host, around)
        now = view(guest.current, guest, guest.accelerator, where)
        then = guest.pending_accelerator or guest.accelerator
        later = view(guest.pending, guest, then, where) if guest.pending else None
        seen = observer.sight(guest, now)
        found = workloads.load(guest, finders, seen or Sight(now, now))
        cases.append(figures.applied(
            GuestCase(
                guest=guest,
                host=where.host,
                view=seen.programs if seen and guest.platform is Platform.UNSEEN else now,
                pending=later,
                cluster=where.cluster,
                peers=where.peers,
                observed=seen.programs if seen else None,
                workloads=found.workloads,
                unread=found.unread,
                figures=figures.of_node(measured, where.host),
            )
        ))  # fmt: skip
    return tuple(cases)


def host_cases(inventory: Inventory) -> tuple[HostCase, ...]:
    """Return one case a host, in the inventory's order."""
    clusters = {cluster.subject: cluster for cluster in inventory.clusters}
    return tuple(HostCase(host, clusters.get(host.cluster)) for host in inventory.hosts)


def cluster_cases(
    inventory: Inventory, guests: tuple[GuestCase, ...] = ()
) -> tuple[ClusterCase, ...]:
    """Return one case a cluster; `guests` are the inventory's guest cases, where wanted."""
    hosts = defaultdict(list)
    for host in inventory.hosts:
        hosts[host.cluster].append(host)
    members = defaultdict(list)
    for case in guests:
        if case.cluster:
            members[case.cluster.subject].append(case)
    return tuple(
        ClusterCase(
            cluster,
            tuple(hosts[cluster.subject]),
            tuple(members[cluster.subject]),
        )
        for cluster in inventory.clusters
    )


def _surroundings(inventory: Inventory) -> dict[str, Surroundings]:
    clusters = {cluster.subject: cluster for cluster in inventory.clusters}
    members = defaultdict(list)
    for host in inventory.hosts:
        if host.cluster:
            members[host.cluster].append(host)
    numbers: dict[Place, int] = {}
    around = {}
    for host in inventory.hosts:
        place = (host.cpu, host.offers, host.software.qemu)
        around[host.subject] = Surroundings(
            Known(host),
            clusters.get(host.cluster),
            tuple(peer for peer in members[host.cluster] if _is_peer(peer, host)),
            place,
            numbers.setdefault(place, len(numbers)),
        )
    return around


def _is_peer(other: Host, host: Host) -> bool:
    """Return whether KVM may run the same guests there: not where the architectures differ."""
    if other is host:
        return False
    known = isinstance(other.cpu, Known) and isinstance(host.cpu, Known)
    return not known or other.cpu.value.arch == host.cpu.value.arch


def _elsewhere(subject: str, around: dict[str, Surroundings]) -> Surroundings:
    """Remember the surroundings of guests whose host the inventory does not hold."""
    missing = Missing(f"the host {subject} is not in this inventory")
    place: Place = (missing, (), "")
    found = Surroundings(missing, None, (), place, -1 - len(around))
    around[subject] = found
    return found
