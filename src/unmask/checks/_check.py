"""A check: one place to look at for what stands in the way of an audit. It changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from unmask.config.settings import Settings, Target
from unmask.model.access import Trust
from unmask.model.checkup import Remark, Status
from unmask.model.source import CollectOptions


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the checks look at, so that a test can give them something else."""

    environment: Mapping[str, str]
    config: Path | None
    """The configuration file that the command line names."""
    settings: Settings
    """What the configuration says; empty where it is wrong."""
    fault: str
    """What is wrong with the configuration; "" where nothing is."""
    targets: tuple[Target, ...]
    """The targets to look at."""
    options_for: Callable[[Target], CollectOptions]
    """Returns how to get into a target, or raises one of our errors."""
    trust_for: Callable[[Target], Trust]
    """Returns which certificate it may show, or raises one of our errors."""
    seconds: float
    """What one target may take."""
    progress: Callable[[str], None]
    root: Path = Path("/")
    """The directory that "/" means."""


@dataclass(frozen=True, slots=True)
class Check:
    """One place to look at."""

    order: int
    """Checks are shown in this order, lowest first."""
    title: str
    run: Callable[[Surroundings], Iterable[Remark]]


def ok(subject: str, what: str) -> Remark:
    """Return that something is as it should be."""
    return Remark(Status.OK, subject, what)


def note(subject: str, what: str, todo: str = "") -> Remark:
    """Return something that is worth knowing."""
    return Remark(Status.NOTE, subject, what, todo)


def problem(subject: str, what: str, todo: str) -> Remark:
    """Return something that will not work, and what to do about it."""
    return Remark(Status.PROBLEM, subject, what, todo)


def every_target(around: Surroundings) -> tuple[Target, ...]:
    """Return the targets to look at, and all that are configured."""
    return (*around.targets, *around.settings.targets)
