"""A guest's figures against its node's, and a node's figures under other CPU models."""

from __future__ import annotations

from dataclasses import dataclass

from unmask.measure import _place
from unmask.measure._words import figure, percent, times
from unmask.measure.statistics import Series, series
from unmask.model.bench import (
    FORCED,
    MASKED,
    PADLOCK,
    PLAIN,
    WITHOUT_PCLMULQDQ,
    BenchResult,
    Tool,
)

HOST = "host"
"""The CPU model that hides nothing."""
_OWN = frozenset({PLAIN, MASKED, WITHOUT_PCLMULQDQ, FORCED, PADLOCK})
_BY_NAME = {"gcm": "GCM", "ctr": "CTR", "xts": "XTS", "cbc": "CBC"}


@dataclass(frozen=True, slots=True)
class Share:
    """One algorithm in a guest and on its node."""

    tool: Tool
    algorithm: str
    guest: float
    """Bytes a second (or what the tool counts), as it is."""
    node: float
    share: float
    """The guest's of the node's; 1 is the ceiling."""
    sentence: str
    differs: str = ""
    """What else is not the same on both, as the end of "but ..."; "" for nothing that is known."""


@dataclass(frozen=True, slots=True)
class WhatIf:
    """What one algorithm does on a node under the mask that one CPU model amounts to."""

    model: str
    algorithm: str
    rate: float | None
    """Bytes a second; None where the run gave no figure."""
    factor: float | None
    """Against the model that the guest has now; None where either gave no figure."""
    of_host: float | None
    """Against what the node does with nothing hidden."""
    noisy: bool = False
    note: str = ""
    """Why there is no figure."""


def shares(result: BenchResult, node: BenchResult) -> tuple[Share, ...]:
    """Return each algorithm's share of the node's speed, as both are without any change."""
    theirs = {(one.tool, one.algorithm): one for one in _plain(node)}
    differs = _differs(result, node)
    found = []
    for one in _plain(result):
        other = theirs.get((one.tool, one.algorithm))
        if other is None:
            continue
        share = one.per_second / other.per_second
        but = differs
        if one.block != other.block:
            but = f"blocks of {one.block} and {other.block} bytes were measured"
        figures = [figure(one.algorithm, each.per_second) for each in (one, other)]
        text = f"{one.algorithm} at {percent(share)} of this node's speed ({' of '.join(figures)})"
        text += f", but {but}." if but else "."
        found.append(
            Share(one.tool, one.algorithm, one.per_second, other.per_second, share, text, but)
        )
    return tuple(found)


def headline(result: BenchResult, node: BenchResult) -> str:
    """Return "GCM at 13 % of this node's speed", of the slowest GCM; "" where there is none."""
    found = [one for one in shares(result, node) if "gcm" in one.algorithm and not one.differs]
    if not found:
        found = [one for one in shares(result, node) if not one.differs]
    if not found:
        return ""
    worst = min(found, key=lambda one: one.share)
    mode = worst.algorithm.rpartition("-")[2]
    return f"{_BY_NAME.get(mode, worst.algorithm)} at {percent(worst.share)} of this node's speed"


def what_if(result: BenchResult, current: str = "", of: str = HOST) -> tuple[WhatIf, ...]:
    """Return what each CPU model amounts to on the node that was measured.

    Args:
        result: The node's, whose samples have models' names as settings.
        current: The model that a guest has now, against which factors are; "" for none.
        of: The model that hides nothing; the plain runs stand for it where it was not run.
    """
    every = {(one.algorithm, one.setting): one for one in series(result.samples)}
    algorithms = dict.fromkeys(name for name, _ in every)
    models = [name for name in dict.fromkeys(each for _, each in every) if name not in _OWN]
    rows = []
    for model in models:
        for algorithm in algorithms:
            one = every.get((algorithm, model))
            if one is None:
                continue
            now = every.get((algorithm, current))
            whole = every.get((algorithm, of)) or every.get((algorithm, PLAIN))
            rows.append(
                WhatIf(
                    model,
                    algorithm,
                    one.rate,
                    _factor(one, now),
                    _factor(one, whole),
                    one.noisy,
                    "" if one.rate is not None else "; ".join(one.notes) or str(one.ended),
                )
            )
    return tuple(rows)


def gain(rows: tuple[WhatIf, ...], model: str, algorithm: str) -> str:
    """Return "aes-256-gcm 24.8 times as fast as now, by measurement on this node"; "" for none."""
    for row in rows:
        if (row.model, row.algorithm) == (model, algorithm) and row.factor is not None:
            return f"{algorithm} {times(row.factor)} as fast as now, measured on this node"
    return ""


def _factor(one: Series, other: Series | None) -> float | None:
    if one.rate is None or other is None or not other.rate or one.block != other.block:
        return None
    return one.rate / other.rate


def _plain(result: BenchResult) -> list[Series]:
    return [one for one in series(result.samples) if one.setting == PLAIN and one.rate]


def _differs(result: BenchResult, node: BenchResult) -> str:
    here = _place.library(result.environment).version
    there = _place.library(node.environment).version
    if here and there and here != there:
        return f"{here} was measured in the guest and {there} on the node"
    return ""
