"""What is run in a machine, in which order, and how long it may take."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from unmask.model.bench import PLAIN, Tool

END_SECONDS = 3
"""For what is ended by force to be gone."""
FILE_SECONDS = 120
"""That writing or reading a file may take."""


@dataclass(frozen=True, slots=True)
class Run:
    """One command whose output is kept."""

    tool: Tool
    algorithm: str
    words: tuple[str, ...]
    """The program with its arguments."""
    setting: str = PLAIN
    variables: tuple[tuple[str, str], ...] = ()
    """Set for it; an empty value means another thing than none, and is never set."""
    seconds: int = 30
    """After which it is ended by force."""
    slice: float = 0.0
    """Seconds after which `openssl speed` is told to stop measuring; 0: it is left alone."""
    block: int = 0
    """Bytes a call from which its figure is taken."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A dataset of ZFS on which a file is written and read."""

    name: str
    setting: str = PLAIN
    mebibytes: int = 512
    """Of the file at most."""

    @property
    def runs(self) -> tuple[Run, Run]:
        """Return the write, and the read, which may be left out."""
        words = ("zfs", self.name)
        write = Run(Tool.ZFS, "write", words, self.setting, seconds=FILE_SECONDS)
        return write, replace(write, algorithm="read")


@dataclass(frozen=True, slots=True)
class Plan:
    """All that one program runs."""

    rounds: tuple[tuple[Run, ...], ...] = ()
    """Each measures everything once."""
    once: tuple[Run, ...] = ()
    """What is measured once, after the rounds."""
    budget: int = 0
    """Seconds after which no round begins that would not end within them."""
    datasets: tuple[Dataset, ...] = ()
    """Where a file is written and read, at the very end."""

    @property
    def runs(self) -> tuple[Run, ...]:
        """Return all runs in their order; a run's place here is its number."""
        return (*(run for part in self.rounds for run in part), *self.once, *self._files)

    @property
    def seconds(self) -> int:
        """Return after how many seconds it has come to its end in any case."""
        # A round that begins in time may find a machine that has become slow.
        longest = max((sum(_likely(run) for run in part) for part in self.rounds), default=0)
        once = sum(run.seconds for run in (*self.once, *self._files))
        return int(max(self.budget, 2 * longest)) + once + 10

    @property
    def _files(self) -> tuple[Run, ...]:
        return tuple(run for dataset in self.datasets for run in dataset.runs)


def interleaved(runs: Sequence[Run], rounds: int) -> tuple[tuple[Run, ...], ...]:
    """Return the runs so many times, each time beginning with another one.

    What makes a machine slow for a while then hits all settings alike.
    """
    return tuple(tuple(_turned(runs, number)) for number in range(rounds))


def _turned(runs: Sequence[Run], by: int) -> Iterator[Run]:
    start = by * max(len(runs) // 3, 1) % len(runs) if runs else 0
    yield from runs[start:]
    yield from runs[:start]


def _likely(run: Run) -> float:
    """Return the seconds that a run takes on a slow machine."""
    return run.slice + 2 if run.slice else run.seconds
