"""Everything that a run of `unmask bench` has to say, before it is a table or JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from unmask.measure import diagnosis, noise, reference
from unmask.measure.noise import Noise
from unmask.measure.reference import Share, WhatIf
from unmask.measure.statistics import Series, series
from unmask.model.bench import BenchResult, Diagnosis

WHAT_IF = "what-if"
"""In the method of a result whose settings are CPU models."""


@dataclass(frozen=True, slots=True)
class Machine:
    """One machine that was measured, or output of one that was pasted."""

    result: BenchResult
    series: tuple[Series, ...]
    noise: Noise
    diagnosis: Diagnosis | None = None
    """None for what-if runs, which have nothing to explain."""
    shares: tuple[Share, ...] = ()
    """Of its node's speed, where the node was measured too."""
    headline: str = ""
    what_if: tuple[WhatIf, ...] = ()


@dataclass(frozen=True, slots=True)
class BenchDocument:
    """A run of `unmask bench`."""

    version: str
    """Of unmask."""
    started: str
    machines: tuple[Machine, ...]


def build(
    results: Sequence[BenchResult],
    before: Sequence[BenchResult] = (),
    *,
    version: str,
    started: str,
    current: str = "",
) -> BenchDocument:
    """Return what is to be said of results.

    Args:
        results: Of guests and nodes; a guest is held against the result of its node.
        before: Earlier results of the same machines.
        version: Of unmask.
        started: ISO 8601 in UTC.
        current: The CPU model against which others are held in what-if runs; "" for none.
    """
    nodes = {
        result.host: result
        for result in results
        if result.host and result.subject == result.host and not _asks_what_if(result)
    }
    machines = tuple(_machine(result, nodes, current) for result in results)
    return BenchDocument(version, started, machines)


def _machine(result: BenchResult, nodes: Mapping[str, BenchResult], current: str) -> Machine:
    every = series(result.samples)
    disturbed = noise.judge(result)
    if _asks_what_if(result):
        return Machine(result, every, disturbed, what_if=reference.what_if(result, current))
    node = nodes.get(result.host)
    if node is None or node is result:
        return Machine(result, every, disturbed, diagnosis.diagnose(result))
    return Machine(
        result,
        every,
        disturbed,
        diagnosis.diagnose(result, node),
        reference.shares(result, node),
        reference.headline(result, node),
    )


def _asks_what_if(result: BenchResult) -> bool:
    return result.method.endswith(WHAT_IF)
