"""Which implementation of a ladder a CPU gets, as far as its flags are known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from unmask.crypto.consumers import Measurement, Path, Tier
from unmask.crypto.versions import parse, within
from unmask.model.cpu import FeatureView, State

_BASELINE = {"aarch64": frozenset(("neon", "asimd"))}
"""Flags that every CPU of an architecture has, and that a model cannot hide."""


@dataclass(frozen=True, slots=True)
class Flags:
    """The flags of one view, with more taken for shown."""

    view: FeatureView
    given: frozenset[str] = frozenset()

    def state(self, flag: str) -> State:
        """Return what software sees of a flag."""
        if flag in self.given or flag in _BASELINE.get(self.view.arch, ()):
            return State.SHOWN
        return self.view.state(flag)

    def all_shown(self, flags: Iterable[str]) -> bool:
        """Return whether every one is surely shown."""
        return all(self.state(flag) is State.SHOWN for flag in flags)

    def hidden(self, flags: Iterable[str]) -> tuple[str, ...]:
        """Return those that are surely hidden."""
        return tuple(flag for flag in flags if self.state(flag) is State.HIDDEN)

    def open(self, flags: Iterable[str]) -> tuple[str, ...]:
        """Return those of which nothing is known."""
        settled = (State.SHOWN, State.HIDDEN)
        return tuple(flag for flag in flags if self.state(flag) not in settled)


def possible(path: Path, flags: Flags, version: tuple[int, ...]) -> tuple[Tier, ...]:
    """Return the tiers that may be taken, the best first.

    A tier is ruled out by a hidden flag or by the version, and everything below a tier that is
    surely there is ruled out by that. Where the version is not known, every one is thought of.
    """
    limits = {limit for tier in path.tiers for limit in (tier.since, tier.below) if limit}
    thinkable = [version] if version else [(0,), *map(parse, limits)]
    found = {tier.name for each in thinkable for tier in _possible(path, flags, each)}
    return tuple(tier for tier in path.tiers if tier.name in found)


def _possible(path: Path, flags: Flags, version: tuple[int, ...]) -> Iterator[Tier]:
    for tier in path.tiers:
        if not tier.present_in(version) or flags.hidden(tier.flags):
            continue
        yield tier
        if flags.all_shown(tier.flags):
            return


def taken(path: Path, flags: Flags, version: tuple[int, ...]) -> Tier | None:
    """Return the first tier of this version whose flags are surely shown."""
    there = (tier for tier in path.tiers if tier.present_in(version))
    return next((tier for tier in there if flags.all_shown(tier.flags)), None)


def next_better(path: Path, current: Tier, version: tuple[int, ...]) -> Tier | None:
    """Return the nearest tier above one of this version."""
    above = path.tiers[: path.tiers.index(current)]
    return next((tier for tier in reversed(above) if tier.present_in(version) is not False), None)


def measurement(path: Path, version: tuple[int, ...]) -> Measurement | None:
    """Return the figures that stand for a version."""
    return next((m for m in path.measured if within(version, m.since, m.below)), None)
