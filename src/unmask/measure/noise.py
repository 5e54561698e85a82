"""Whether a benchmark was too disturbed to be judged, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from unmask.measure import statistics
from unmask.measure.statistics import Series
from unmask.model.bench import PLAIN, BenchResult, Environment
from unmask.model.reading import Known

UNFIT_SPREAD = 0.35
"""Spread from which a figure is not to be trusted: the slowest run took twice the fastest one's
time, as with a second busy program on the same processor."""
STEAL = 0.05
"""Share of stolen time that is worth saying."""
UNFIT_STEAL = 0.30
"""Share of stolen time from which figures say more about the neighbours than about the machine."""
WAITED = 0.20
"""Share of time in which a program waited for a processor from which it is worth saying."""
BUSY = 0.8
"""Load before the benchmark, per processor, from which it had to share one."""
DRIFT = 0.20
"""By how much the last run is slower than the first where each is slower than the one before."""
DRIFTING = 3
"""Runs that it takes to see that."""


@dataclass(frozen=True, slots=True)
class Noise:
    """How disturbed a benchmark was."""

    fit: bool
    """The figures may be judged; what tells AES-NI from none is a factor of ten and bears more."""
    reasons: tuple[str, ...] = ()
    """What was seen, a sentence each; there may be some although the figures are fit."""
    advice: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Seen:
    """One thing that disturbs, and what to do about it."""

    text: str
    advice: str
    unfit: bool = False


def judge(result: BenchResult) -> Noise:
    """Return how disturbed a benchmark was, from its runs and what was told of its machine."""
    every = [one for one in statistics.series(result.samples) if one.rate is not None]
    environment = result.environment
    seen = [*_spread(every), *_steal(every), *_waited(result)]
    seen += [*_drift(every), *_load(environment)]
    return Noise(
        not any(one.unfit for one in seen),
        tuple(one.text for one in seen),
        tuple(dict.fromkeys(one.advice for one in seen)),
    )


def _spread(every: list[Series]) -> Iterator[_Seen]:
    wide = [one for one in every if one.noisy]
    if not wide:
        return
    worst = max(wide, key=_width)
    text = (
        f"The {worst.count} runs of {worst.algorithm} ({worst.setting}) lie up to "
        f"{_width(worst):.0%} around their median"
    )
    text += f", and {len(wide) - 1} more are noisy." if len(wide) > 1 else "."
    advice = "Repeat it when the machine and its node have less to do, or with --thorough."
    yield _Seen(text, advice, unfit=_width(worst) > UNFIT_SPREAD)


def _width(one: Series) -> float:
    return one.spread or 0.0


def _steal(every: list[Series]) -> Iterator[_Seen]:
    most = max((one.steal for one in every if one.steal is not None), default=0.0)
    if most < STEAL:
        return
    text = f"The host gave up to {most:.0%} of the time to others while it measured (steal)."
    advice = (
        "Give the guest's node less to do, or move the guest: more virtual processors make steal "
        "worse, not better."
    )
    yield _Seen(text, advice, unfit=most >= UNFIT_STEAL)


def _waited(result: BenchResult) -> Iterator[_Seen]:
    """Yield that other programs of the machine had the processor, by the run in the middle."""
    told = [sample.waited for sample in result.samples if sample.waited is not None]
    if told and median(told) >= WAITED:
        text = (
            f"Other programs in the machine had the processor for {median(told):.0%} of the time "
            "in which it wanted to run."
        )
        yield _Seen(text, "Repeat it when the machine has less to do.")


def _drift(every: list[Series]) -> Iterator[_Seen]:
    """Yield that runs became slower one after the other; the first algorithm stands for all."""
    for one in every:
        rates = [sample.rate for sample in one.samples if sample.rate is not None]
        if one.setting != PLAIN or len(rates) < DRIFTING:
            continue
        lost = 1 - rates[-1] / rates[0]
        if lost > DRIFT and all(later < earlier for earlier, later in pairwise(rates)):
            text = f"{one.algorithm} became slower from run to run, by {lost:.0%} in all."
            advice = "Look whether the machine runs out of processor credits, or its node gets hot."
            yield _Seen(text, advice)
            return


def _load(environment: Environment) -> Iterator[_Seen]:
    if not isinstance(environment.resources, Known):
        return
    resources = environment.resources.value
    load = environment.load if environment.load is not None else _first(resources.load)
    count = resources.processors
    if load is None or not count or load < BUSY * count:
        return
    processors = "processors" if count > 1 else "processor"
    text = f"The machine was busy before it began: a load of {load:g} on {count} {processors}."
    yield _Seen(text, "Repeat it when the machine has less to do.")


def _first(averages: str) -> float | None:
    """Return the load of the last minute from "0.10 0.22 0.31"."""
    try:
        return float(averages.partition(" ")[0])
    except ValueError:
        return None
