"""Runs of one thing as one figure: its median, and how far the runs lie apart."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass

from unmask.model.bench import Ended, Sample, Tool

NOISY = 0.10
"""Spread from which a figure is called noisy.

On a machine that others used a little, two series of one thing differed by 10 to 15 % where nothing
had changed (the control row of the measurements behind `crypto/data/consumers.json`).
"""
QUARTILES = 5
"""Runs from which on the outermost one at each end is left out of the spread."""
_TELLING = (
    Ended.ILLEGAL, Ended.KILLED, Ended.LATE, Ended.INVALID, Ended.FAILED, Ended.UNSUPPORTED,
)  # fmt: skip
"""Of several ends, the first of these that is among them stands for the series."""


@dataclass(frozen=True, slots=True)
class Series:
    """All runs of one algorithm under one setting; without a rate where none gave a figure."""

    tool: Tool
    algorithm: str
    setting: str
    ended: Ended
    """WELL where there is a rate, whatever became of other runs."""
    count: int = 0
    """Runs that gave a figure."""
    rate: float | None = None
    """The median, in the samples' unit."""
    low: float | None = None
    """The slowest and the fastest run."""
    high: float | None = None
    spread: float | None = None
    """Half the distance between the outer runs, as a share of the median; None for a single run.

    With five runs or more the outermost one at each end is left out, which for five makes it half
    the distance between the quartiles: one disturbed run does not move it. With fewer there is
    nothing to leave out, and the spread is that of all.
    """
    block: int | None = None
    steal: float | None = None
    """The median of what was told, 0 to 1."""
    illegal: int = 0
    """Runs that an illegal instruction ended."""
    notes: tuple[str, ...] = ()
    samples: tuple[Sample, ...] = ()
    """In their order, those without figure too."""

    @property
    def noisy(self) -> bool:
        """Return whether the runs lie so far apart that small differences mean nothing."""
        return self.spread is not None and self.spread > NOISY

    @property
    def per_second(self) -> float:
        """Return the rate.

        Raises:
            ValueError: There is none.
        """
        if self.rate is None:
            raise ValueError(f"{self.algorithm} {self.setting} has no figure")
        return self.rate


def series(samples: Iterable[Sample]) -> tuple[Series, ...]:
    """Return a series for each tool, algorithm and setting, in order of appearance.

    Samples of other block sizes than the one that most have, and of other numbers of processes, are
    another thing and left out of the figure, with a note.
    """
    groups: dict[tuple[Tool, str, str], list[Sample]] = {}
    for sample in samples:
        groups.setdefault((sample.tool, sample.algorithm, sample.setting), []).append(sample)
    return tuple(_series(group) for group in groups.values())


def _series(samples: list[Sample]) -> Series:
    first = samples[0]
    valid = [sample for sample in samples if sample.rate is not None]
    kinds = [(sample.block, sample.processes) for sample in valid]
    kind = statistics.mode(kinds) if kinds else (None, 1)
    alike = [sample for sample in valid if (sample.block, sample.processes) == kind]
    notes = list(dict.fromkeys(sample.note for sample in samples if sample.note))
    if len(alike) < len(valid):
        notes.append(f"{len(valid) - len(alike)} runs with another block or number of processes")
    rates = sorted(sample.rate for sample in alike if sample.rate is not None)
    steals = [sample.steal for sample in samples if sample.steal is not None]
    return Series(
        first.tool,
        first.algorithm,
        first.setting,
        Ended.WELL if rates else _ended(samples),
        count=len(rates),
        rate=statistics.median(rates) if rates else None,
        low=rates[0] if rates else None,
        high=rates[-1] if rates else None,
        spread=spread(rates),
        block=kind[0],
        steal=statistics.median(steals) if steals else None,
        illegal=sum(sample.ended is Ended.ILLEGAL for sample in samples),
        notes=tuple(notes),
        samples=tuple(samples),
    )


def _ended(samples: list[Sample]) -> Ended:
    seen = {sample.ended for sample in samples}
    return next((ended for ended in _TELLING if ended in seen), Ended.INVALID)


def spread(rates: Iterable[float]) -> float | None:
    """Return the spread of rates as `Series.spread` has it; None for fewer than two."""
    ordered = sorted(rates)
    if len(ordered) < 2:
        return None
    outer = ordered[1:-1] if len(ordered) >= QUARTILES else ordered
    return (outer[-1] - outer[0]) / 2 / statistics.median(ordered)


def cycles_per_byte(rate: float, hertz: float) -> float:
    """Return how many cycles a byte takes at a rate (bytes a second) and a frequency."""
    return hertz / rate
