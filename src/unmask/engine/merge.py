"""Several inventories as one, each subject still meaning one thing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Protocol, TypeVar

from unmask.engine import site
from unmask.model.inventory import Cluster, Guest, Host, Inventory


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
            prefix, other = _apart(kept, inventory)
            notes.append(
                f"{prefix} describes {clash} differently from an earlier target: its subjects are "
                f"shown as {prefix}:...{_advice(kept, inventory)}"
            )
            kept.append(other)
        else:
            kept.append(inventory)
    return Merged(_joined(kept), tuple(notes))


def _apart(kept: Sequence[Inventory], inventory: Inventory) -> tuple[str, Inventory]:
    """Return a prefix, and the inventory with it, that no earlier one has such subjects with.

    A file can be called as the site of another file is, or as its subjects begin for any reason.
    """
    name = ", ".join(inventory.targets) or f"inventory {len(kept) + 1}"
    prefix, number = name, 1
    while _clash(kept, other := site.renamed(inventory, partial(_behind, prefix))):
        number += 1
        prefix = f"{name} ({number})"
    return prefix, other


def _behind(prefix: str, subject: str) -> str:
    return f"{prefix}:{subject}"


def _advice(kept: Sequence[Inventory], inventory: Inventory) -> str:
    """Return what to do where two files are of one site; "" where none is told."""
    earlier = {name for other in kept for name in site.sites(other)}
    twice = [name for name in site.sites(inventory) if name in earlier]
    if not twice:
        return ""
    return (
        f"; both are of the site {', '.join(twice)}: audit one file of a site at a time, and "
        "compare two with unmask diff"
    )


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
