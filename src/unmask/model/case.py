"""What a rule looks at: one subject together with everything that judging it needs.

The engine builds cases from an inventory; rules are pure functions of one case.
"""

from __future__ import annotations

from dataclasses import dataclass

from unmask.model.bench import BenchResult
from unmask.model.cpu import FeatureView, HostCpu
from unmask.model.inventory import Cluster, Guest, Host
from unmask.model.reading import Reading
from unmask.model.workload import JudgedWorkload, Unread


@dataclass(frozen=True, slots=True)
class GuestCase:
    """A guest, its host, and what it sees of its CPU."""

    guest: Guest
    host: Reading[Host]
    view: FeatureView
    """What it sees now (running), or would see when started (stopped)."""
    pending: FeatureView | None
    """What it will see after a stop and start, where a change is pending."""
    cluster: Cluster | None = None
    peers: tuple[Host, ...] = ()
    """The other hosts of its cluster; those known to be of another architecture are left out."""
    observed: FeatureView | None = None
    """What the guest itself says that it sees; None where nobody looked inside."""
    workloads: tuple[JudgedWorkload, ...] = ()
    """Sorted by kind and name; judged by `observed` where that is known, else by `view`."""
    unread: tuple[Unread, ...] = ()
    """Kinds of workloads that could not be looked for, though somebody was inside."""
    figures: tuple[BenchResult, ...] = ()
    """What CPU models were measured to amount to on its node."""

    @property
    def host_cpu(self) -> HostCpu:
        """Return the host's CPU; raises `UnreadError` where the host or its CPU is not known."""
        return self.host.value.cpu.value


@dataclass(frozen=True, slots=True)
class HostCase:
    """A host and its cluster."""

    host: Host
    cluster: Cluster | None = None


@dataclass(frozen=True, slots=True)
class ClusterCase:
    """A cluster, its hosts and its guests."""

    cluster: Cluster
    hosts: tuple[Host, ...]
    guests: tuple[GuestCase, ...] = ()
