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
    """Every guest, node and cluster of a document with its label and anchor.

    A short label leaves the cluster out, for where that stands above.
    """

    def __init__(self, document: Document) -> None:
        inventory = document.inventory
        several = len({place(case.guest.subject) for case in document.cases}) > 1
        peopled = {host.cluster for host in inventory.hosts}
        self.clusters: dict[str, Ref] = {}
        self.nodes: dict[str, Ref] = {}
        self.guests: dict[str, Ref] = {}
        self.short_nodes: dict[str, Ref] = {}
        self.short_guests: dict[str, Ref] = {}
        for number, cluster in enumerate(inventory.clusters, 1):
            anchor = f"cluster-{number}" if cluster.subject in peopled else ""
            self.clusters[cluster.subject] = Ref(_name(cluster.subject), anchor)
        for number, host in enumerate(inventory.hosts, 1):
            short = Ref(_name(host.name), f"node-{number}")
            self.short_nodes[host.subject] = short
            self.nodes[host.subject] = Ref(_name(host.subject), short.anchor) if several else short
        for number, case in enumerate(document.cases, 1):
            subject = case.guest.subject
            short = Ref(_cells.guest(case), f"guest-{number}")
            self.short_guests[subject] = short
            whole = f"{_name(place(subject))} {short.text}" if several else short.text
            self.guests[subject] = Ref(whole, short.anchor)

    def of(self, subject: str, name: str = "") -> Ref:
        """Return the label of any subject; one that is not on the page is called by `name` too."""
        for known in (self.guests, self.nodes, self.clusters):
            if subject in known:
                return known[subject]
        text = _name(subject)
        return Ref(f"{text} {_name(name)}" if name and not text.endswith(_name(name)) else text)

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
