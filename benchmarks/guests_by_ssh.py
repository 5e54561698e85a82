"""Looking into many guests by SSH, each behind a network with latency.

What one guest takes when it is looked into alone is its chain of round trips; nobody is faster than
the slowest chain for each guest, divided by those that are looked into at once. All guests share
this machine's processors with the program that looks into them, and so send a recorded answer; what
the real program costs a guest is measured apart.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from benchmarks import guest_server, sample, slow_network
from benchmarks.figure import Figure
from benchmarks.guest_server import Guests
from support import sshd
from support.sshd import Client
from unmask.connect.ssh_login import Secrets
from unmask.model.entry import GuestEntry, VisitOptions
from unmask.model.inventory import GuestState, Inventory
from unmask.model.source import CollectOptions
from unmask.model.visit import Way
from unmask.probes import _reading, _script
from unmask.visits import _ssh, _visit
from unmask.visits._channel import Hypervisor
from unmask.visits._nobody import Nobody

GUESTS = 100
LATENCY = 0.02
"""Seconds for a round trip."""
PARALLEL = 16
ALONE = 5
ROUNDS = 3
OVER_CHAIN = 1.5
PROCESSOR = 0.5
"""Seconds of a guest's processor."""
WAIT = 60.0


@dataclass(frozen=True, slots=True)
class Site:
    """Guests that are one server behind a slow network."""

    guests: Guests
    entry: GuestEntry

    def chain(self) -> float:
        """Return the seconds that the slowest of some guests takes alone."""
        return max(self._alone() for _ in range(ALONE))

    def _alone(self) -> float:
        began = time.perf_counter()
        _ssh.look("127.0.0.1", self.entry, Secrets(), WAIT)
        return time.perf_counter() - began

    def all(self, inventory: Inventory) -> float:
        """Return the seconds for all guests of an inventory."""
        visits = VisitOptions((Way.SSH,), frozenset({Way.SSH}), WAIT, lambda _: self.entry)
        options = CollectOptions(timeout=WAIT, workers=PARALLEL, visits=visits)
        began = time.perf_counter()
        found = _visit.visit("guests", inventory, options, (_SHUT,))
        seconds = time.perf_counter() - began
        entered = sum(guest.visit.inside.known for guest in found.guests)
        assert entered == len(found.guests), (
            f"{entered} of {len(found.guests)} guests: {found.gaps}"
        )
        return seconds


_SHUT = Hypervisor("none", lambda _: True, lambda *_: nullcontext(Nobody("not asked")))


def measure(guests: int = GUESTS, rounds: int = ROUNDS) -> list[Figure]:
    """Return commands per guest, time over the chain, and the cost to a guest's processor."""
    whats = (
        f"commands for each of {guests} guests by SSH",
        f"looking into them, {LATENCY * 1000:.0f} ms a round trip, over slowest chain / {PARALLEL}",
        "processor time of the probes in a guest (this machine, as root)",
    )
    targets = ("1", f"at most {OVER_CHAIN}x", f"under {PROCESSOR} s")
    inventory = _inventory(guests)
    try:
        with _site() as site:
            chain = site.chain()
            before = len(site.guests.commands)
            seconds = statistics.median(site.all(inventory) for _ in range(rounds))
            each = (len(site.guests.commands) - before) / guests / rounds
    except pytest.skip.Exception as reason:
        return [
            Figure(what, str(reason), target) for what, target in zip(whats, targets, strict=True)
        ]
    floor = chain * guests / PARALLEL
    ratio, cost = seconds / floor, _processor()
    measured = (
        f"{each:g}",
        f"{ratio:.2f}x ({seconds:.2f} s; one alone {chain:.2f} s, median of {rounds})",
        f"{cost:.2f} s",
    )
    met = (each == 1, ratio <= OVER_CHAIN, cost < PROCESSOR)
    return [Figure(*row) for row in zip(whats, measured, targets, met, strict=True)]


def _inventory(guests: int) -> Inventory:
    """Return so many running guests."""
    found = sample.inventory(guests)
    running = [replace(guest, state=GuestState.RUNNING) for guest in found.guests]
    return replace(found, guests=tuple(running))


@contextmanager
def _site() -> Iterator[Site]:
    with tempfile.TemporaryDirectory(prefix="unmask-") as directory:
        place = Path(directory)
        user = sshd.client(place / "client")
        key = sshd.keygen(place / "host_key")
        with (
            guest_server.running(place, key, _answer()) as guests,
            slow_network.between(guests.port, LATENCY) as port,
        ):
            yield Site(guests, _entry(user, port, Path(f"{key}.pub").read_text()))


def _entry(user: Client, port: int, key: str) -> GuestEntry:
    login = user.options(host_keys=(key.strip(),))
    return GuestEntry(
        address="127.0.0.1", port=port, user=sshd.USER, ssh=login, ways=(Way.SSH,), told=True
    )


def _answer() -> bytes:
    """Return what this machine answers, with a mark that can be replaced."""
    mark = "MARK" * 4
    return _run(mark).replace(mark.encode(), guest_server.PLACE)


def _run(mark: str) -> bytes:
    program = _script.script(mark, _reading.probes()).encode()
    done = subprocess.run(["/bin/sh", "-s"], input=program, capture_output=True, check=True)
    return done.stdout


def _processor() -> float:
    """Return the seconds of processor time that the real program takes here, of several runs."""
    seconds = []
    for _ in range(ROUNDS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        _run(os.urandom(16).hex())
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        user, system = after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime
        seconds.append(user + system)
    return statistics.median(seconds)
