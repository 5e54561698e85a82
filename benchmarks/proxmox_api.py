"""Reading a big Proxmox VE cluster by its API, beside the loop that people write.

Every answer is late by the latency of a network. The floor is what nobody can go below: that
latency for each round of parallel requests, plus the processor time that the server itself took.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from proxmoxer import ProxmoxAPI

from benchmarks import big_cluster
from benchmarks.big_cluster import SECRET, TOKEN, BigCluster
from benchmarks.figure import Figure
from unmask.model.access import Access, Login, Trust
from unmask.model.inventory import Inventory
from unmask.model.secret import Secret
from unmask.model.source import CollectOptions
from unmask.sources import proxmox

GUESTS = 1000
NODES = 16
LATENCY = 0.02
"""Seconds."""
ROUNDS = 3
PER_GUEST = 1.1
OVER_FLOOR = 1.3
FASTER = 8.0


def measure(guests: int = GUESTS, nodes: int = NODES, rounds: int = ROUNDS) -> list[Figure]:
    """Return requests per guest, time over the floor, and how much faster than the loop it is."""
    with big_cluster.running(guests, nodes, LATENCY) as cluster:
        tries = [_timed(cluster, lambda: _ours(cluster, guests)) for _ in range(rounds)]
        _, loop, _ = _timed(cluster, lambda: _loop(cluster, guests))
    middle = sorted(tries, key=lambda found: found[1] / _floor(found))[len(tries) // 2]
    requests, seconds, own = middle
    ratio, faster = seconds / _floor(middle), loop / seconds
    each = requests / guests
    return [
        Figure(
            f"requests for each of {guests} guests on {nodes} nodes",
            f"{each:.3f} ({requests})",
            f"at most {PER_GUEST}",
            each <= PER_GUEST,
        ),
        Figure(
            f"reading them with {LATENCY * 1000:.0f} ms on every answer, over the floor",
            f"{ratio:.2f}x ({seconds:.2f} s; server {own:.2f} s, median of {rounds})",
            f"at most {OVER_FLOOR}x",
            ratio <= OVER_FLOOR,
        ),
        Figure(
            "the same beside a sequential proxmoxer loop",
            f"{faster:.1f}x as fast ({loop:.1f} s)",
            f"at least {FASTER:.0f}x",
            faster >= FASTER,
        ),
    ]


def _floor(found: tuple[int, float, float]) -> float:
    requests, _, own = found
    return requests / CollectOptions().workers * LATENCY + own


def _timed(cluster: BigCluster, work: Callable[[], None]) -> tuple[int, float, float]:
    """Return requests, seconds, and the seconds of processor time that the server took."""
    before, began = cluster.served(), time.perf_counter()
    work()
    took, after = time.perf_counter() - began, cluster.served()
    return after.requests - before.requests, took, after.seconds - before.seconds


def _ours(cluster: BigCluster, guests: int) -> None:
    access = Access(Login(TOKEN, Secret(SECRET)), Trust(ca_file=cluster.ca_file))
    options = CollectOptions(timeout=120, access=access)
    found: Inventory = proxmox.collect(f"pve://{cluster.address}", options)
    assert len(found.guests) == guests
    assert not found.gaps, found.gaps[0]


def _loop(cluster: BigCluster, guests: int) -> None:
    """Read every guest's configuration, one after the other."""
    user, _, name = TOKEN.partition("!")
    host, _, port = cluster.address.partition(":")
    api = ProxmoxAPI(
        host,
        port=int(port),
        user=user,
        token_name=name,
        token_value=SECRET,
        verify_ssl=cluster.ca_file,
        timeout=30,
    )
    listed = api.cluster.resources.get(type="vm")
    read = [api.nodes(item["node"]).qemu(item["vmid"]).config.get() for item in listed]
    assert len(read) == guests
