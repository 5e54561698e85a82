"""What has changed between two benchmarks of one machine, and what the change may be put down to.

Not every gain after a change of the CPU is the CPU's. A figure that ends at the speed of the link,
of the disk or of memory says that something else is the limit now: how much the CPU gave is then
not known, only that it is no longer in the way. And where more than the CPU has changed, nothing
is put down to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from unmask.measure import _comparable, statistics
from unmask.measure._words import figure, rate, times
from unmask.measure.statistics import Series
from unmask.model.bench import PLAIN, BenchResult, Tool

AT_LIMIT = 0.85
"""Share of a limit from which a figure sits at it: protocols take up to 15 % of a link."""
ABOVE_LIMIT = 1.1
"""Share of a limit from which a figure cannot have come through it."""
NOISE = 0.10
"""Change that means nothing, whatever the spread."""
UNENCRYPTED = "unencrypted"
"""The setting of samples on an unencrypted dataset beside the encrypted one: the disk's limit."""
LINK = "link"
"""The algorithm of a link's own measurement."""

_BOUND = {
    Tool.OPENSSL: True,
    Tool.CRYPTSETUP: True,
    Tool.ZFS: True,
    Tool.TLS: True,
    Tool.FILE: False,
    Tool.NETWORK: False,
}
"""Whether the processor's encryption is what the work of a tool usually waits for."""
_BY_LINK = frozenset({Tool.FILE, Tool.TLS})
_BY_DISK = frozenset({Tool.FILE, Tool.ZFS})


class Credit(StrEnum):
    """What a change is put down to."""

    CPU = "cpu"
    LINK = "link"
    DISK = "disk"
    CACHE = "cache"
    """Memory gave the figure: a file that fits into the ARC or page cache."""
    OTHER = "other"
    """Something else than the CPU, which was not seen."""
    NONE = "none"
    """Within the noise: nothing has changed."""
    NOT_COMPARABLE = "not-comparable"


@dataclass(frozen=True, slots=True)
class Limits:
    """What else can hold work back, in bytes a second; None where it is not known."""

    link: float | None = None
    """Of the network between the ends: 1.25e9 for 10 GbE."""
    disk: float | None = None
    """What the storage does without encryption."""


@dataclass(frozen=True, slots=True)
class Change:
    """One figure before and after."""

    tool: Tool
    algorithm: str
    before: float | None
    """Bytes a second, or requests where the algorithm begins with that; None where missing."""
    after: float | None
    ratio: float | None
    """After of before; None where not comparable."""
    credit: Credit
    sentence: str
    cycles: tuple[float, float] | None = None
    """Cycles that a byte took before and after, where the frequency was given."""


def compare(
    before: BenchResult,
    after: BenchResult,
    limits: Limits | None = None,
    *,
    hertz: float | None = None,
) -> tuple[Change, ...]:
    """Return every plain figure of either benchmark, before and after, with what it is put down to.

    Args:
        before: The earlier benchmark.
        after: The later one of the same machine.
        limits: Given by the operator; a link that `after` has measured, and an unencrypted dataset,
            are taken where nothing is given.
        hertz: The processor's frequency while it measured, for cycles a byte.
    """
    bounds = _limits(after, limits or Limits())
    olds = {(one.tool, one.algorithm): one for one in _plain(before)}
    news = {(one.tool, one.algorithm): one for one in _plain(after)}
    differs = _comparable.whole(before, after)
    cpu = _comparable.cpu_changed(before, after)
    found = []
    for key in dict.fromkeys((*olds, *news)):
        if key[0] is Tool.NETWORK:
            continue
        old, new = olds.get(key), news.get(key)
        found.append(_Judge(bounds, differs, cpu, before, after, hertz).change(key, old, new))
    return tuple(found)


def link_limit(gigabits: float) -> float:
    """Return the bytes a second of a link: 1.25e9 for 10."""
    return gigabits * 1e9 / 8


@dataclass(frozen=True, slots=True)
class _Judge:
    """What all changes of two benchmarks are judged by."""

    limits: Limits
    differs: str
    """Why none of it can be compared; "" where it can."""
    cpu_changed: bool | None
    before: BenchResult
    after: BenchResult
    hertz: float | None

    def change(self, key: tuple[Tool, str], old: Series | None, new: Series | None) -> Change:
        """Return one change."""
        tool, algorithm = key
        values = (old.rate if old else None, new.rate if new else None)
        why = self.differs or _missing(old, new)
        if not why and old and new:
            why = _comparable.one(self.before, self.after, old, new)
        if why or not (old and new and old.rate and new.rate):
            text = f"{algorithm}: not comparable, {why}."
            return Change(tool, algorithm, *values, None, Credit.NOT_COMPARABLE, text)
        ratio = new.rate / old.rate
        credit, said = self._credit(old, new, ratio)
        cycles = None
        if self.hertz and tool in (Tool.OPENSSL, Tool.CRYPTSETUP, Tool.ZFS):
            cycles = (
                statistics.cycles_per_byte(old.rate, self.hertz),
                statistics.cycles_per_byte(new.rate, self.hertz),
            )
            said += f" {cycles[0]:.1f} cycles a byte before, {cycles[1]:.1f} after."
        text = (
            f"{algorithm}: {figure(algorithm, old.rate)} before, {figure(algorithm, new.rate)} "
            f"after ({times(ratio)}). {said}"
        )
        return Change(tool, algorithm, *values, ratio, credit, text, cycles)

    def _credit(self, old: Series, new: Series, ratio: float) -> tuple[Credit, str]:
        margin = max(NOISE, old.spread or 0.0, new.spread or 0.0)
        if abs(ratio - 1) <= margin:
            return Credit.NONE, "That is within the noise."
        held = self._held(new)
        if held and ratio > 1:
            return held
        if ratio < 1:
            return Credit.OTHER, "It became slower, which a CPU type that shows more does not do."
        if self.cpu_changed is False:
            return Credit.OTHER, "The CPU shows the same flags as before: something else did it."
        if not _BOUND[old.tool]:
            return Credit.OTHER, "This work does not wait for encryption alone: not put down to it."
        if self.cpu_changed is None:
            return (
                Credit.CPU,
                "The CPU's, if nothing else was changed: neither run says what it had.",
            )
        return (
            Credit.CPU,
            "The CPU's: this work waits for it, and nothing else that was seen changed.",
        )

    def _held(self, new: Series) -> tuple[Credit, str] | None:
        """Return the limit that the new figure sits at or cannot have come through."""
        if new.algorithm.startswith("requests"):
            return None
        if new.tool is Tool.ZFS and new.algorithm == "write" and self._synced():
            return Credit.DISK, "With sync=always each write waits for the pool, not for the CPU."
        limits = (
            (Credit.LINK, "link", self.limits.link, new.tool in _BY_LINK),
            (Credit.DISK, "disk", self.limits.disk, new.tool in _BY_DISK),
        )
        for credit, name, limit, concerns in limits:
            if limit is None or not concerns:
                continue
            if new.per_second > limit * ABOVE_LIMIT:
                text = (
                    f"More than the {name}'s {rate(limit)}: it came out of memory, not the CPU's."
                )
                return Credit.CACHE, text
            if new.per_second >= limit * AT_LIMIT:
                text = (
                    f"It sits at the {name}'s limit of {rate(limit)}: not credited to the CPU, "
                    "which is no longer what it waits for."
                )
                return credit, text
        return None

    def _synced(self) -> bool:
        return any("sync=always" in problem for problem in self.after.problems)


def _missing(old: Series | None, new: Series | None) -> str:
    for one, when in ((old, "before"), (new, "after")):
        if one is None:
            return f"it was not measured {when}"
        if not one.rate:
            return f"it gave no figure {when} ({'; '.join(one.notes) or one.ended})"
    return ""


def _limits(after: BenchResult, given: Limits) -> Limits:
    link, disk = given.link, given.disk
    for one in statistics.series(after.samples):
        if link is None and one.tool is Tool.NETWORK and one.algorithm == LINK:
            link = one.rate
        if disk is None and one.tool is Tool.ZFS and one.setting == UNENCRYPTED:
            disk = one.rate
    return Limits(link, disk)


def _plain(result: BenchResult) -> list[Series]:
    return [one for one in statistics.series(result.samples) if one.setting == PLAIN]
