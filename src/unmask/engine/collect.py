"""Read every target of a run: one that fails is a gap, and the others go on."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from unmask.engine import site
from unmask.engine.merge import merge
from unmask.errors import TargetError, UnmaskError, UsageError
from unmask.model.inventory import Gap, Inventory
from unmask.model.source import CollectOptions, Interrupted, Source

Visit: TypeAlias = Callable[[Source, str, Inventory, CollectOptions], Inventory]


def stay_outside(
    _source: Source, _target: str, found: Inventory, _options: CollectOptions
) -> Inventory:
    """Return what was read as it is, and look into no guest."""
    return found


@dataclass(frozen=True, slots=True)
class Failure:
    """A target that could not be read at all, and why."""

    target: str
    error: UnmaskError

    @property
    def sentence(self) -> str:
        """Return "TARGET: what is wrong", with the target named once."""
        text = str(self.error)
        named = re.search(rf"(^|[\s'\"]){re.escape(self.target)}($|[\s:,'\"])", text)
        return text if named else f"{self.target}: {text}"


@dataclass(frozen=True, slots=True)
class Collected:
    """What a run has read."""

    inventory: Inventory
    failures: tuple[Failure, ...] = ()
    notes: tuple[str, ...] = ()
    """What people should know about how targets were put together."""
    interrupted: bool = False
    """Ctrl-C ended the reading: targets after that were not begun."""

    @property
    def nothing(self) -> bool:
        """Return whether no target at all could be read."""
        return bool(self.failures) and len(self.failures) == len(self.inventory.targets)

    @property
    def exit_code(self) -> int:
        """Return 0, or 3 where a target failed, or 2 where none of them even means anything.

        130 where the reading was interrupted.
        """
        if self.interrupted:
            return Interrupted.exit_code
        if self.nothing and all(isinstance(item.error, UsageError) for item in self.failures):
            return UsageError.exit_code
        return UnmaskError.exit_code if self.failures else 0


def collect(
    targets: Sequence[str],
    source_for: Callable[[str], Source],
    options_for: Callable[[str], CollectOptions],
    progress: Callable[[str], None],
    visit: Visit = stay_outside,
    at: str = "",
) -> Collected:
    """Read each target with the source that `source_for` names and merge what was read.

    `options_for` returns what a target may cost and how to get in; it may fail as reading may.
    `progress` is told what is being read. `visit` looks into the guests of
    what was read. A failed target is in `inventory.targets` and `inventory.gaps` as well as in
    `failures`. `at` is the site that all of it is at; "" for none.
    """
    read: list[Inventory] = []
    failures: list[Failure] = []
    interrupted = False
    for target in dict.fromkeys(targets):
        if interrupted:
            failures.append(Failure(target, TargetError("not read: interrupted before it")))
            continue
        try:
            source = source_for(target)
            progress(f"reading {target} ({source.name})")
            options = options_for(target)
            found = visit(source, target, source.collect(target, options), options)
            read.append(site.of_site(found, at) if at else found)
        except Interrupted as stop:
            read.append(site.of_site(stop.inventory, at) if at else stop.inventory)
            interrupted = True
        except UnmaskError as error:
            failures.append(Failure(target, error))
    merged = merge(read)
    where = f"{at}:" if at else ""
    gaps = tuple(Gap(where + failure.target, str(failure.error)) for failure in failures)
    inventory = replace(
        merged.inventory, targets=tuple(dict.fromkeys(targets)), gaps=gaps + merged.inventory.gaps
    )
    return Collected(inventory, tuple(failures), merged.notes, interrupted)
