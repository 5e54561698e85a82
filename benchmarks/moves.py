"""How long it takes to judge every guest against every node of a cluster."""

from __future__ import annotations

import gc
import statistics
import time
from dataclasses import replace

from benchmarks import sample
from benchmarks.figure import Figure
from unmask import plugins
from unmask.engine import moves
from unmask.model.cpu import HostCpu
from unmask.model.finding import Rule
from unmask.model.inventory import Cluster, Guest, Host, Inventory, Platform, Software
from unmask.model.move import Move
from unmask.model.reading import Known
from unmask.model.tie import Confinement, Tie, TieKind

GUESTS, NODES = 1000, 32
ROUNDS = 3
SECONDS = 3.0
KINDS = 8
"""Different CPUs in the cluster."""


def cluster(guests: int, nodes: int) -> Inventory:
    """Return one cluster whose guests differ in ties, so that hardly two are judged as one."""
    hosts = tuple(_host(number) for number in range(nodes))
    names = tuple(host.name for host in hosts)
    placed = tuple(
        _guest(guest, number, hosts[number % nodes], names)
        for number, guest in enumerate(sample.inventory(guests).guests)
    )
    return Inventory(
        targets=("sample",),
        hosts=hosts,
        guests=placed,
        clusters=(Cluster("big", "big", Platform.PROXMOX),),
    )


def _host(number: int) -> Host:
    kind = number % KINDS
    flags = frozenset(sample.INTEL.split()) - frozenset(sample.INTEL.split()[:kind])
    cpu = HostCpu("x86_64", flags, "GenuineIntel", f"Xeon of kind {kind}", 6, 60 + kind, 2)
    software = Software("Proxmox VE 9.2.11", f"10.{kind % 2}.2", "6.14.11-4-pve")
    name = f"node{number:02}"
    parameters = (("kvm_intel.nested", "Y"),)
    return Host(f"big/{name}", name, Platform.PROXMOX, "big", Known(cpu), software, parameters)


def _guest(guest: Guest, number: int, host: Host, names: tuple[str, ...]) -> Guest:
    disk = Tie(TieKind.LOCAL_DISK, f"scsi0 on pool{number % 97}", copied_to=names)
    image = Tie(TieKind.LOCAL_FILE, f"ide2 on store{number % 89}", names[: number % len(names)])
    rule = Confinement(f"rule{number % 83}", names[number % 7 :])
    return replace(
        guest,
        subject=f"big/{number}",
        host=host.subject,
        machine=f"pc-q35-{8 + number % 3}.{number % 3}",
        ties=Known((disk, image)),
        confined=Known((rule,) if number % 5 == 0 else ()),
    )


def judged(inventory: Inventory) -> tuple[Move, ...]:
    """Return every move, as `unmask migrate-check` judges them."""
    return moves.moves(inventory, plugins.load("unmask.rules", "RULE", Rule), moves.Asked())


def measure(guests: int = GUESTS, nodes: int = NODES, rounds: int = ROUNDS) -> list[Figure]:
    """Return the time for the whole matrix."""
    inventory = cluster(guests, nodes)
    judged(cluster(10, 2))  # load the rules and the catalogue first
    seconds = []
    found: tuple[Move, ...] = ()
    for _ in range(rounds):
        gc.collect()
        began = time.process_time()
        found = judged(inventory)
        seconds.append(time.process_time() - began)
    median = statistics.median(seconds)
    reasons = sum(len(move.reasons) for move in found)
    return [
        Figure(
            f"judge {guests} guests x {nodes} nodes ({len(found)} moves, {reasons} reasons)",
            f"{median:.2f} s of one core",
            f"under {SECONDS:g} s",
            median < SECONDS,
        )
    ]
