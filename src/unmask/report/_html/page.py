"""The whole page: every section's view of one document."""

from __future__ import annotations

from dataclasses import dataclass

from unmask.model.report import Document
from unmask.report._html import (
    cluster_map,
    findings,
    flags,
    guests,
    measured,
    moves,
    summary,
    throughput,
    todo,
    unread,
)
from unmask.report._html.cluster_map import ClusterMap
from unmask.report._html.findings import Findings
from unmask.report._html.flags import FlagMatrix
from unmask.report._html.guests import Guests
from unmask.report._html.labels import Labels
from unmask.report._html.measured import Bench
from unmask.report._html.moves import Moves
from unmask.report._html.summary import Summary
from unmask.report._html.throughput import Throughput
from unmask.report._html.todo import Todo
from unmask.report._html.unread import Part


@dataclass(frozen=True, slots=True)
class Page:
    """What the templates lay out."""

    title: str
    summary: Summary
    todo: tuple[Todo, ...]
    clusters: tuple[ClusterMap, ...]
    guests: Guests
    flags: tuple[FlagMatrix, ...]
    findings: Findings
    throughput: Throughput
    measured: tuple[Bench, ...]
    moves: Moves
    unread: tuple[Part, ...]

    @property
    def sections(self) -> tuple[tuple[str, str], ...]:
        """Return the id and name of each section that has content, in order."""
        every = (
            ("summary", "Summary", True),
            ("actions", "What to do", bool(self.todo)),
            ("cluster-map", "Nodes", bool(self.clusters)),
            ("guests", "Guests", True),
            ("flags", "Flags", bool(self.flags)),
            ("findings", "Findings", bool(self.findings.groups)),
            ("throughput", "Throughput", bool(self.throughput.bars or self.measured)),
            ("migration", "Migration", bool(self.moves.matrices)),
            ("unread", "Not sure", bool(self.unread)),
        )
        return tuple((ident, name) for ident, name, there in every if there)


def build(document: Document) -> Page:
    """Return the page of a document."""
    labels = Labels(document)
    tasks = todo.build(document, labels)
    found = findings.build(document, labels)
    first = summary.build(document, labels, tasks, found.places)
    return Page(
        title=f"unmask audit of {first.targets}, {first.started[:10]}",
        summary=first,
        todo=tasks,
        clusters=cluster_map.build(document, labels),
        guests=guests.build(document, labels, found.anchors),
        flags=flags.build(document, labels),
        findings=found,
        throughput=throughput.build(document, labels),
        measured=measured.build(document, labels),
        moves=moves.build(document, labels),
        unread=unread.build(document, labels),
    )
