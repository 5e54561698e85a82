"""A rule of the cluster says where the guest may be: high availability, affinity.

## Why it matters

The manager of high availability refuses a move against a strict rule, or brings the guest back at
once. A rule that keeps two guests together moves both.

## How it decides

A strict rule blocks both kinds of move to a node that it does not name, and to one where a guest is
that the rule keeps apart from this one. A preference is only told, and so is who moves along, and
that rules do not go along to another cluster. Where the rules were not read, both kinds of move are
unknown.

## Remedy

Change the rule first, or choose one of the nodes that it names.

## What fix does

It moves nothing. Where this would hold for the guest with its new CPU, the plan names it as a
constraint that has to be acknowledged (`--ack MIG014`).

## When to accept it

It is the operator's own wish.

## References

- Proxmox VE documentation, ha-manager.adoc: groups (before 9), node affinity and resource affinity
  rules (9)
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.errors import UnreadError
from unmask.model.finding import About, Problem, Rule
from unmask.model.move import MoveCase
from unmask.model.reading import Missing
from unmask.model.tie import Confinement
from unmask.rules import _moves, _words
from unmask.rules._moves import BOTH, COLD, MoveKind


def check(move: MoveCase) -> Iterator[Problem]:
    """Yield which rule of the cluster speaks against the target; raises where none was read."""
    confined = move.case.guest.confined
    if isinstance(confined, Missing):
        said = f"where the cluster's rules let it be: {confined.reason}"
        raise UnreadError(said, confined.needs)
    for confinement in confined.value:
        yield from _told(move, confinement)


def _told(move: MoveCase, confinement: Confinement) -> Iterator[Problem]:
    if _moves.leaves_cluster(move):
        yield _moves.told(f"{confinement.rule} is a rule of this cluster and stays behind.")
        return
    stops: tuple[MoveKind, ...] = ()
    if confinement.strict:
        stops = BOTH if _moves.alive(move) else (COLD,)
    target, rule = move.target.name, confinement.rule
    if confinement.nodes and target not in confinement.nodes:
        where = _words.listed(confinement.nodes, "or")
        wants = "keeps the guest on" if confinement.strict else "prefers"
        yield _moves.told(f"{rule} {wants} {where}, not {target}.", stops=stops)
    enemies = move.neighbours.intersection(confinement.apart)
    if enemies:
        who = _words.few(map(_short, sorted(enemies)))
        keeps = "keeps it apart from" if confinement.strict else "would rather keep it apart from"
        yield _moves.told(f"{rule} {keeps} {who}, which {target} runs.", stops=stops)
    left = [name for name in confinement.together if name not in move.neighbours]
    if left:
        yield _moves.told(f"{rule} moves {_words.few(map(_short, left))} along.")


def _short(subject: str) -> str:
    return subject.rpartition("/")[2]


RULE = Rule("MIG014", "A rule of the cluster confines the guest", About.MOVE, check)
