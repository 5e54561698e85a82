"""Where each guest could move: guests against nodes, and the reasons below."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from unmask.model.inventory import Host
from unmask.model.move import Move, Reason
from unmask.model.report import Document
from unmask.report import _migration_matrix
from unmask.report._html.cluster_map import ALONE
from unmask.report._html.labels import NAME, Labels, Ref, Refs, parted, sentence
from unmask.report._text import clean

HERE = "here"
NOTES = 2000
"""Different reasons that are shown; `unmask migrate-check` has all."""
TARGET = "the target"
"""Stands for the target's name where a reason is the same for several."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One guest on one node."""

    word: str
    """"live", "live? cold", "cold", "no", "here", "" where the move was not judged."""
    notes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class MoveRow:
    """Guests for which all answers are the same."""

    guests: Refs
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class MoveNote:
    """A reason that holds for at least one cell."""

    number: int
    code: str
    effect: str
    """"blocks live", "leaves live and cold unknown", "to know"."""
    text: str
    needs: str


@dataclass(frozen=True, slots=True)
class MoveMatrix:
    """The moves within one cluster, or among hosts that are in none."""

    title: str
    nodes: tuple[Ref, ...]
    rows: tuple[MoveRow, ...]


@dataclass(frozen=True, slots=True)
class Moves:
    """All matrices and the reasons that their cells point to."""

    matrices: tuple[MoveMatrix, ...]
    notes: tuple[MoveNote, ...]
    more: int
    """Reasons that are left out."""


@dataclass(slots=True)
class _Notes:
    """Numbers reasons in order of appearance."""

    numbers: dict[Hashable, int]
    found: list[MoveNote]

    def of(self, reason: Reason, target: str) -> int:
        message = _without(reason.message, target)
        needs = _without(reason.needs, target)
        key = (reason.code, message, reason.stops, reason.unsure, needs)
        number = self.numbers.setdefault(key, len(self.numbers) + 1)
        if number > len(self.found):
            code, effect = clean(reason.code, 20), _effect(reason)
            self.found.append(MoveNote(number, code, effect, sentence(message), sentence(needs)))
        return number


def build(document: Document, labels: Labels) -> Moves:
    """Return a matrix for each cluster with moves, and the reasons that cells point to."""
    hosts = {host.subject: host for host in document.inventory.hosts}
    of_guest: dict[str, list[Move]] = defaultdict(list)
    for move in document.moves:
        of_guest[move.guest].append(move)
    by_cluster: dict[str, list[list[Move]]] = defaultdict(list)
    for moves in of_guest.values():
        host = hosts.get(moves[0].origin)
        by_cluster[host.cluster if host else ""].append(moves)
    notes = _Notes({}, [])
    matrices = []
    for cluster, some in by_cluster.items():
        title = clean(cluster, NAME) or ALONE
        nodes, rows = _rows(some, document, notes)
        named = labels.short_guests if cluster else labels.guests
        hosts_named = labels.short_nodes if cluster else labels.nodes
        matrices.append(
            MoveMatrix(
                title,
                tuple(hosts_named[host.subject] for host in nodes),
                tuple(
                    MoveRow(
                        parted([named.get(guest) or labels.of(guest) for guest in guests]), cells
                    )
                    for cells, guests in rows.items()
                ),
            )
        )
    left = max(0, len(notes.found) - NOTES)
    return Moves(tuple(matrices), tuple(notes.found[:NOTES]), left)


def _rows(
    found: Sequence[list[Move]], document: Document, notes: _Notes
) -> tuple[list[Host], dict[tuple[Cell, ...], list[str]]]:
    """Return the nodes of a matrix, and guests by their answers for each of them."""
    wanted = {end for moves in found for move in moves for end in (move.origin, move.target)}
    hosts = [host for host in document.inventory.hosts if host.subject in wanted]
    rows: dict[tuple[Cell, ...], list[str]] = {}
    for moves in found:
        by_target = {move.target: move for move in moves}
        cells = tuple(
            Cell(HERE)
            if host.subject == moves[0].origin
            else _cell(by_target.get(host.subject), host.name, notes)
            for host in hosts
        )
        rows.setdefault(cells, []).append(moves[0].guest)
    return hosts, rows


def _cell(move: Move | None, target: str, notes: _Notes) -> Cell:
    if move is None:
        return Cell("")
    numbers = {notes.of(reason, target) for reason in move.reasons}
    shown = tuple(number for number in sorted(numbers) if number <= NOTES)
    return Cell(_migration_matrix.cell(move), shown)


def _without(text: str, target: str) -> str:
    """Return a text without its target's name, so that reasons of several targets are one."""
    if not target:
        return text
    return re.sub(rf"(?<![\w./-]){re.escape(target)}(?![\w/-])", TARGET, text)


def _effect(reason: Reason) -> str:
    if reason.stops:
        return f"blocks {' and '.join(kind.value for kind in reason.stops)}"
    if reason.unsure:
        return f"leaves {' and '.join(kind.value for kind in reason.unsure)} unknown"
    return "to know"
