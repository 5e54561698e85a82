"""How far ten quick benchmarks of one machine lie apart, and how long one takes, by a real sshd."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

import pytest

from benchmarks.figure import Figure
from support import masked_machine, sshd
from unmask.benches import bench
from unmask.benches.bench import Effort, Wanted
from unmask.measure.statistics import series
from unmask.model.bench import PLAIN, BenchResult, Tool
from unmask.model.source import CollectOptions

RUNS = 10
SECONDS = 20.0


def measure(runs: int = RUNS) -> list[Figure]:
    """Return the spread of each algorithm's median over several runs, and the longest run."""
    what = "unmask bench --quick, the longest"
    target = f"under {SECONDS:g} s"
    try:
        results, seconds = _results(runs)
    except pytest.skip.Exception as reason:
        return [Figure(what, str(reason), target)]
    longest = max(seconds)
    figures = [Figure(what, f"{longest:.1f} s of {runs} runs", target, longest < SECONDS)]
    for algorithm, medians in _medians(results).items():
        middle = statistics.median(medians)
        apart = (max(medians) - min(medians)) / 2 / middle
        said = f"+-{apart:.0%} around {middle / 1e6:.0f} MB/s"
        figures.append(Figure(f"spread of the median of {algorithm}, {runs} quick runs", said, ""))
    return figures


def _results(runs: int) -> tuple[list[BenchResult], list[float]]:
    """Return the results of so many runs, and the seconds that each took with its login."""
    results, seconds = [], []
    with tempfile.TemporaryDirectory(prefix="unmask-") as directory:
        user = sshd.client(Path(directory, "client"))
        with masked_machine.serving(Path(directory, "guest"), user) as server:
            for _ in range(runs):
                options = CollectOptions(ssh=user.options())
                job = bench.machine(f"ssh://{server.place}", options, Wanted(Effort.QUICK))
                began = time.perf_counter()
                results.append(job.work())
                seconds.append(time.perf_counter() - began)
    return results, seconds


def _medians(results: list[BenchResult]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for result in results:
        for one in series(result.samples):
            if one.tool is Tool.OPENSSL and one.setting == PLAIN and one.rate:
                found.setdefault(one.algorithm, []).append(one.rate)
    return found
