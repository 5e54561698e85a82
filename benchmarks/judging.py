"""How long judging takes, and how memory grows with the number of guests."""

from __future__ import annotations

import gc
import statistics
import time
import tracemalloc

from benchmarks import sample
from benchmarks.figure import Figure
from unmask import plugins
from unmask.engine import document
from unmask.model.finding import Rule
from unmask.model.inventory import Inventory
from unmask.model.report import Document

GUESTS = 10_000
ROUNDS = 5
SECONDS = 2.0
GROWTH = 1.2
"""How much dearer one guest may be at the largest size than at the smallest."""


def judged(inventory: Inventory) -> Document:
    """Return the document that an audit would print."""
    rules = plugins.load("unmask.rules", "RULE", Rule)
    return document.build(inventory, rules, version="0", started="2026-12-01T00:00:00Z")


def measure(guests: int = GUESTS) -> list[Figure]:
    """Return the time for so many guests, and memory for a quarter, a half and all of them."""
    return [_time(guests), *_memory(guests)]


def _time(guests: int) -> Figure:
    inventory = sample.inventory(guests)
    judged(sample.inventory(100))  # load the rules and the catalogue first
    seconds = []
    for _ in range(ROUNDS):
        gc.collect()
        began = time.process_time()
        report = judged(inventory)
        seconds.append(time.process_time() - began)
    median = statistics.median(seconds)
    found = len(report.outcome.findings)
    return Figure(
        f"judge {guests} guests ({found} findings), median of {ROUNDS}",
        f"{median:.2f} s of one core",
        f"under {SECONDS:g} s",
        median < SECONDS,
    )


def _memory(guests: int) -> list[Figure]:
    sizes = (guests // 4, guests // 2, guests)
    each = [_bytes_per_guest(size) for size in sizes]
    figures = [
        Figure(f"peak memory, {size} guests", f"{cost * size / 2**20:.1f} MiB", "")
        for size, cost in zip(sizes, each, strict=True)
    ]
    growth = each[-1] / each[0]
    target = f"linear: within {GROWTH:g}x"
    what = f"memory a guest, {sizes[-1]} guests to {sizes[0]}"
    return [*figures, Figure(what, f"{growth:.2f}x", target, growth <= GROWTH)]


def _bytes_per_guest(guests: int) -> float:
    """Return the peak of all that inventory, cases and findings take, divided by the guests."""
    gc.collect()
    tracemalloc.start()
    report = judged(sample.inventory(guests))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(report.cases) == guests
    return peak / guests
