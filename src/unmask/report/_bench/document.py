"""Everything that a run of `unmask bench` has to say, before it is a table or JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from unmask.measure import advise, diagnosis, noise, reference
from unmask.measure.advise import Snippet
from unmask.measure.compare import Change, Limits, compare
from unmask.measure.noise import Noise
from unmask.measure.reference import Share, WhatIf
from unmask.measure.statistics import Series, series
from unmask.model.bench import BenchResult, Diagnosis

PASTED = "pasted"
NOT_BEFORE = "the results that it was to be compared with hold none of this machine"
"""The method of output that somebody has pasted."""


@dataclass(frozen=True, slots=True)
class Machine:
    """One machine that was measured, or output of one that was pasted."""

    result: BenchResult
    series: tuple[Series, ...]
    noise: Noise
    diagnosis: Diagnosis | None = None
    """None for what-if runs, which have nothing to explain, and where nothing was measured."""
    shares: tuple[Share, ...] = ()
    """Of its node's speed, where the node was measured too."""
    headline: str = ""
    what_if: tuple[WhatIf, ...] = ()
    earlier: BenchResult | None = None
    """What it is compared with; None where nothing is, or where there is no such machine in it."""
    changes: tuple[Change, ...] = ()
    snippets: tuple[Snippet, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """What is wanted beside the figures and their cause."""

    before: tuple[BenchResult, ...] = ()
    """Earlier results to compare with."""
    limits: Limits | None = None
    """What the operator says of links and disks."""
    advise: bool = False
    """Whether to show what can be done inside the machines."""
    current: str = ""
    """The CPU model against which others are held in what-if runs; "" for none."""


NOTHING = Asked()


@dataclass(frozen=True, slots=True)
class BenchDocument:
    """A run of `unmask bench`."""

    version: str
    """Of unmask."""
    started: str
    machines: tuple[Machine, ...]


def build(
    results: Sequence[BenchResult], asked: Asked = NOTHING, *, version: str, started: str
) -> BenchDocument:
    """Return what is to be said of results.

    Args:
        results: Of guests and nodes; a guest is held against the result of its node.
        asked: What else is wanted.
        version: Of unmask.
        started: ISO 8601 in UTC.
    """
    nodes = {
        result.host: result
        for result in results
        if result.host and result.subject == result.host and not result.asks_what_if
    }
    machines = tuple(_machine(result, nodes.get(result.host), asked) for result in results)
    return BenchDocument(version, started, machines)


def _machine(result: BenchResult, node: BenchResult | None, asked: Asked) -> Machine:
    machine = Machine(result, series(result.samples), noise.judge(result))
    if result.asks_what_if:
        return replace(machine, what_if=reference.what_if(result, asked.current))
    if not result.samples:
        return machine
    if node is result:
        node = None
    found = diagnosis.diagnose(result, node)
    machine = replace(machine, diagnosis=found)
    if node is not None:
        shares, headline = reference.shares(result, node), reference.headline(result, node)
        machine = replace(machine, shares=shares, headline=headline)
    if asked.advise:
        snippets = advise.snippets(result, found, result.services)
        machine = replace(machine, snippets=snippets)
    earlier = _earlier(result, asked.before)
    if earlier is None:
        lacking = (NOT_BEFORE,) if asked.before and result.samples else ()
        told = replace(result, problems=(*result.problems, *lacking))
        return replace(machine, result=told)
    return replace(machine, earlier=earlier, changes=compare(earlier, result, asked.limits))


def _earlier(result: BenchResult, before: Sequence[BenchResult]) -> BenchResult | None:
    """Return the earlier result of the same machine; pasted output has no name that would tell."""
    if result.method == PASTED:
        return before[0] if before else None
    fitting = [one for one in before if one.subject == result.subject]
    alike = [one for one in fitting if one.method == result.method]
    return next(iter(alike or fitting), None)
