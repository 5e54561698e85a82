"""Which exit code the answers to a question about moves lead to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from unmask.model.inventory import Guest, GuestKind, GuestState
from unmask.model.migration import MigrationDocument
from unmask.model.move import Answer, Move

RUNS = (GuestState.RUNNING, GuestState.PAUSED, GuestState.UNKNOWN)


def asked_way(guest: Guest, move: Move) -> Answer:
    """Return the answer that counts: the live one where the guest runs, else the cold one."""
    alive = guest.kind is GuestKind.VM and guest.state in RUNS and not guest.template
    return move.live if alive else move.cold


def exit_code(document: MigrationDocument, *, strict: bool = False) -> int:
    """Return what the process ends with.

    3 where `strict` is set and something that was asked is not known; else 1 where a move that was
    asked for is blocked; else 0. With `--to` every move has to go; with `--evacuate` every guest
    has to find a place; with `--vm` or `--cpu` alone every guest needs one node that takes it. A
    matrix asks for no move.
    """
    answers = _answers(document)
    if strict and (document.inventory.gaps or Answer.UNKNOWN in answers):
        return 3
    return int(document.question.decides and Answer.BLOCKED in answers)


def _answers(document: MigrationDocument) -> set[Answer]:
    if document.plan:
        verdicts = {"stays": Answer.BLOCKED, "unknown": Answer.UNKNOWN}
        return {verdicts.get(step.how, Answer.POSSIBLE) for step in document.plan.steps}
    guests = {guest.subject: guest for guest in document.inventory.guests}
    found: dict[str, list[Answer]] = defaultdict(list)
    for move in document.moves:
        found[move.guest].append(asked_way(guests[move.guest], move))
    if document.question.to or not document.question.decides:
        return {answer for answers in found.values() for answer in answers}
    nowhere = {Answer.BLOCKED for guest in _asked(document) if guest not in found}
    return nowhere | {_best(answers) for answers in found.values()}


def _asked(document: MigrationDocument) -> Iterable[str]:
    return document.question.guests


def _best(answers: Iterable[Answer]) -> Answer:
    order = (Answer.POSSIBLE, Answer.UNKNOWN, Answer.BLOCKED)
    return min(answers, key=order.index)
