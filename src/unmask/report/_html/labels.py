"""What guests, nodes and clusters are called on the page, and where on it they are.

Names come from outside: they are cleaned and bounded here, once, and no identity of the page is
ever made of them. Guests and nodes are numbered in the order of the inventory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from unmask.model.report import Document
from unmask.report import _cells
from unmask.report._text import LISTED, clean

NAME = 80
"""Characters of one name."""
NAMELESS: Mapping[str, str] = {}
TEXT = 600
"""Characters of one sentence."""


@dataclass(frozen=True, slots=True)
class Ref:
    """Something that is on the page."""

    text: str
    anchor: str = ""
    """Its id on the page: "guest-3", "node-1"; "" where it has none."""


@dataclass(frozen=True, slots=True)
class Refs:
    """Several of them, of which the first are named."""

    named: tuple[Ref, ...]
    rest: tuple[Ref, ...] = ()

    @property
    def count(self) -> int:
        """Return how many there are."""
        return len(self.named) + len(self.rest)


class Labels:
    """Every subject of a document with its label and anchor."""

    def __init__(self, document: Document) -> None:
        inventory = document.inventory
        places = {place(case.guest.subject) for case in document.cases}
        several = len(places) > 1
        self._known: dict[str, Ref] = {}
        self._short: dict[str, str] = {}
        for number, cluster in enumerate(inventory.clusters, 1):
            self._known[cluster.subject] = Ref(_name(cluster.subject), f"cluster-{number}")
        for number, host in enumerate(inventory.hosts, 1):
            text = host.subject if several else host.name
            self._known[host.subject] = Ref(_name(text), f"node-{number}")
            self._short[host.subject] = _name(host.name)
        for number, case in enumerate(document.cases, 1):
            label = _cells.guest(case)
            whole = f"{_name(place(case.guest.subject))} {label}" if several else label
            self._known[case.guest.subject] = Ref(whole, f"guest-{number}")
            self._short[case.guest.subject] = label

    def of(self, subject: str, name: str = "") -> Ref:
        """Return the label of a subject; one that is not on the page is called by `name` too."""
        found = self._known.get(subject)
        if found:
            return found
        text = _name(subject)
        return Ref(f"{text} {_name(name)}" if name and not text.endswith(_name(name)) else text)

    def short(self, subject: str) -> Ref:
        """Return the label of a guest or host, without that of its cluster where it had one."""
        ref = self.of(subject)
        return Ref(self._short.get(subject, ref.text), ref.anchor)

    def all_short(self, subjects: Iterable[str]) -> Refs:
        """Return short labels of different subjects in their order; the first few are named."""
        return parted([self.short(one) for one in dict.fromkeys(subjects)])

    def all(self, subjects: Iterable[str], names: Mapping[str, str] = NAMELESS) -> Refs:
        """Return the labels of different subjects in their order; the first few are named."""
        return parted([self.of(one, names.get(one, "")) for one in dict.fromkeys(subjects)])


def parted(refs: Sequence[Ref], most: int = LISTED) -> Refs:
    """Return references of which the first `most` are named, or all where one more is left."""
    cut = len(refs) if len(refs) <= most + 1 else most
    return Refs(tuple(refs[:cut]), tuple(refs[cut:]))


def place(subject: str) -> str:
    """Return what stands before a subject's last part: its site and cluster, or its host."""
    return subject.rpartition("/")[0]


def _name(text: str) -> str:
    return clean(text, NAME) or "?"


def sentence(text: str, limit: int = TEXT) -> str:
    """Return a cleaned and bounded sentence."""
    return clean(text, limit)
