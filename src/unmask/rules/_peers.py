"""What the other hosts of a guest's cluster can run.

Thousands of guests share a few hosts: answers are kept by the identity of the tuple of peers,
which the engine makes once a host.
"""

from __future__ import annotations

from functools import lru_cache

from unmask.cpu.passthrough import gives
from unmask.cpu.resolve import resolve
from unmask.model.case import GuestCase
from unmask.model.cpu import Accelerator, CpuSpec, HostCpu, HypervisorCpu
from unmask.model.inventory import Host
from unmask.model.reading import Known


class Same:
    """A key that is equal only to a key of the same object, which it keeps alive."""

    __slots__ = ("value",)

    def __init__(self, value: tuple[Host, ...]) -> None:
        """Hold `value`."""
        self.value = value

    def __eq__(self, other: object) -> bool:
        """Return whether both hold the very same object."""
        return isinstance(other, Same) and self.value is other.value

    def __hash__(self) -> int:
        """Return a hash of the object's identity."""
        return id(self.value)


def unable(case: GuestCase) -> tuple[tuple[str, frozenset[str]], ...]:
    """Return the names of the peers that cannot give the guest its CPU, with what they lack."""
    guest = case.guest
    return _unable(guest.current, case.view.arch, case.view.accelerator, Same(case.peers))


def known_cpus(case: GuestCase) -> frozenset[HostCpu]:
    """Return the distinct CPUs of the guest's host and peers, as far as they are known."""
    own = frozenset([case.host_cpu])
    return own | _cpus(Same(case.peers))


def unknown_peers(case: GuestCase) -> int:
    """Return the number of peers whose CPU is not known."""
    return _unknown(Same(case.peers))


def giving(case: GuestCase, flags: frozenset[str]) -> tuple[str, ...]:
    """Return the names of the peers that surely can give all of `flags`."""
    return _giving(flags, Same(case.peers))


@lru_cache(maxsize=4096)
def _giving(flags: frozenset[str], peers: Same) -> tuple[str, ...]:
    return tuple(
        peer.name
        for peer in peers.value
        if isinstance(peer.cpu, Known) and flags <= peer.cpu.value.flags
    )


def lacking(case: GuestCase, flags: frozenset[str]) -> tuple[str, ...]:
    """Return the names of the peers that cannot give all of `flags` under KVM."""
    return _lacking(flags, Same(case.peers))


@lru_cache(maxsize=4096)
def _lacking(flags: frozenset[str], peers: Same) -> tuple[str, ...]:
    return tuple(
        peer.name
        for peer in peers.value
        if isinstance(peer.cpu, Known)
        and peer.cpu.value.complete
        and not all(gives(flag, peer.cpu.value.flags) for flag in flags)
    )


@lru_cache(maxsize=4096)
def _unable(
    spec: CpuSpec, arch: str, accelerator: Accelerator, peers: Same
) -> tuple[tuple[str, frozenset[str]], ...]:
    found = []
    for peer in peers.value:
        if isinstance(peer.cpu, Known) and peer.cpu.value.complete:
            lost = _lost(spec, arch, accelerator, peer.cpu.value, peer.offers)
            if lost:
                found.append((peer.name, lost))
    return tuple(found)


@lru_cache(maxsize=4096)
def _lost(
    spec: CpuSpec,
    arch: str,
    accelerator: Accelerator,
    cpu: HostCpu,
    offers: tuple[HypervisorCpu, ...],
) -> frozenset[str]:
    return resolve(spec, arch, accelerator, Known(cpu), offers).lost


@lru_cache(maxsize=1024)
def _cpus(peers: Same) -> frozenset[HostCpu]:
    return frozenset(peer.cpu.value for peer in peers.value if isinstance(peer.cpu, Known))


@lru_cache(maxsize=1024)
def _unknown(peers: Same) -> int:
    return sum(not peer.cpu.known for peer in peers.value)
