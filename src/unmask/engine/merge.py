"""Several inventories as one, each subject still meaning one thing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Protocol, TypeVar

from unmask.model.inventory import Cluster, Guest, Host, Inventory
from unmask.model.reading import Known, Missing, Reading
from unmask.model.tie import Confinement


class Subject(Protocol):
    """Anything with a subject."""

    @property
    def subject(self) -> str:
        """Return the subject."""


S = TypeVar("S", bound=Subject)


@dataclass(frozen=True, slots=True)
class Merged:
    """The merged inventory, and a sentence for each inventory whose subjects had to change."""

    inventory: Inventory
    notes: tuple[str, ...] = ()


def merge(inventories: Sequence[Inventory]) -> Merged:
    """Return all that the inventories hold, sorted by subject.

    Records that are equal, wherever they were read, are the same thing seen twice and appear once.
    Where two inventories give one subject to different records, nobody can tell which is right:
    the later inventory's subjects all get its target as a prefix ("copy.tar:lab/100") and a note
    says so.
    """
    kept: list[Inventory] = []
    notes: list[str] = []
    for inventory in inventories:
        clash = _clash(kept, inventory)
        if clash:
            prefix = ", ".join(inventory.targets) or f"inventory {len(kept) + 1}"
            notes.append(
                f"{prefix} describes {clash} differently from an earlier target: its subjects are "
                f"shown as {prefix}:..."
            )
            kept.append(_prefixed(inventory, prefix))
        else:
            kept.append(inventory)
    return Merged(_joined(kept), tuple(notes))


def _clash(kept: Sequence[Inventory], inventory: Inventory) -> str:
    for what in ("clusters", "hosts", "guests"):
        seen = {item.subject: _content(item) for other in kept for item in getattr(other, what)}
        for item in getattr(inventory, what):
            content = _content(item)
            if seen.get(item.subject, content) != content:
                return str(item.subject)
    return ""


def _content(item: S) -> S:
    """Return a record without where it was read, which differs between copies of one thing."""
    return replace(item, location="") if isinstance(item, Guest) else item


def _prefixed(inventory: Inventory, prefix: str) -> Inventory:
    def name(subject: str) -> str:
        return f"{prefix}:{subject}" if subject else ""

    return replace(
        inventory,
        clusters=tuple(replace(item, subject=name(item.subject)) for item in inventory.clusters),
        hosts=tuple(
            replace(item, subject=name(item.subject), cluster=name(item.cluster))
            for item in inventory.hosts
        ),
        guests=tuple(
            replace(
                item,
                subject=name(item.subject),
                host=name(item.host),
                confined=_confined(item.confined, name),
            )
            for item in inventory.guests
        ),
        gaps=tuple(replace(item, subject=name(item.subject)) for item in inventory.gaps),
    )


def _confined(
    rules: Reading[tuple[Confinement, ...]], name: Callable[[str], str]
) -> Reading[tuple[Confinement, ...]]:
    """Return the rules with the other guests' new subjects."""
    if isinstance(rules, Missing):
        return rules
    return Known(
        tuple(
            replace(
                rule, apart=tuple(map(name, rule.apart)), together=tuple(map(name, rule.together))
            )
            for rule in rules.value
        )
    )


def _joined(kept: Sequence[Inventory]) -> Inventory:
    gaps = dict.fromkeys(chain.from_iterable(inventory.gaps for inventory in kept))
    clusters: tuple[Cluster, ...] = _unique(inventory.clusters for inventory in kept)
    hosts: tuple[Host, ...] = _unique(inventory.hosts for inventory in kept)
    guests: tuple[Guest, ...] = _unique(inventory.guests for inventory in kept)
    return Inventory(
        targets=tuple(dict.fromkeys(chain.from_iterable(item.targets for item in kept))),
        hosts=hosts,
        guests=guests,
        clusters=clusters,
        gaps=tuple(sorted(gaps, key=lambda gap: (gap.subject, gap.reason))),
    )


def _unique(groups: Iterable[tuple[S, ...]]) -> tuple[S, ...]:
    first: dict[str, S] = {}
    for item in chain.from_iterable(groups):
        first.setdefault(item.subject, item)
    return tuple(first[subject] for subject in sorted(first))
