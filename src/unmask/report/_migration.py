"""The report on moves for people: a matrix or each move, reasons, a plan to empty a node."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from unmask.model.migration import MigrationDocument, Plan, Step
from unmask.model.move import Answer, Move, Reason
from unmask.report import _migration_matrix
from unmask.report._grid import Layout, Table, draw, fit
from unmask.report._migration_matrix import host_names, labels
from unmask.report._paint import Paint
from unmask.report._text import clean, listed, wrap

LAYOUT = Layout(shrinkable={"GUEST": 12, "BECAUSE OF": 14}, droppable=("FROM",))
PLAN = Layout(shrinkable={"GUEST": 12, "WHY": 14}, droppable=())
HOW = {"live": "alive", "cold": "stopped", "unknown": "not known", "stays": "stays"}
NAME = 40
"""Characters of a host's name."""
MOST = 200
"""Moves that are shown one by one."""
TARGET = "\0"
"""Stands for the target's name; no cleaned text holds it."""
NEXT = "Reasons: unmask migrate-check --vm GUEST, or --to NODE, or --format json."


def render(document: MigrationDocument, width: int, paint: Paint) -> str:
    """Return the report, for lines of `width` columns (0: unlimited)."""
    asked = document.question
    parts: list[tuple[str, list[str]]] = []
    if asked.cpu:
        told = f"Guests as they would be after a restart with the CPU {clean(asked.cpu, 80)}."
        parts.append(("", wrap(told, width)))
    if asked.matrix or not (asked.guests or asked.to or asked.evacuate or asked.cpu):
        parts.append(("", _migration_matrix.section(document, width, paint)))
        if not asked.decides:
            next_ = wrap(NEXT, width) if document.moves else []
            parts += [("What decides", _causes(document, width)), ("", next_)]
    if document.plan:
        emptied = _host(_hosts(document), document.plan.node)
        parts.append((f"To empty {emptied}", _plan(document, width, paint)))
    elif asked.decides and not asked.matrix:
        parts.append(("", _moves(document, width, paint)))
    if asked.decides and not document.plan:
        parts.append(("Reasons", _reasons(document, document.moves, width)))
    parts += [("Not read", _gaps(document, width)), ("", wrap(summary(document), width))]
    lines: list[str] = []
    for title, body in parts:
        if body:
            lines += ["", *([paint.heading(title)] if title else []), *body]
    return "\n".join(lines).lstrip("\n") + "\n"


def summary(document: MigrationDocument) -> str:
    """Return the closing sentence."""
    moves = document.moves
    if not moves:
        return "There is no move to judge: no guest has another host that it could go to."
    guests = len({move.guest for move in moves})
    targets = len({move.target for move in moves})
    live = Counter(move.live for move in moves)
    cold = Counter(move.cold for move in moves)
    return (
        f"{_counted(len(moves), 'move')} of {_counted(guests, 'guest')} to "
        f"{_counted(targets, 'node')}. Live: {_answers(live)}. Cold: {_answers(cold)}."
    )


def _answers(counts: Counter[Answer]) -> str:
    return ", ".join(f"{counts[answer]} {answer.value}" for answer in Answer)


def _counted(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def _hosts(document: MigrationDocument) -> dict[str, str]:
    return host_names(document.inventory.hosts, NAME)


def _host(names: Mapping[str, str], subject: str) -> str:
    return names.get(subject) or clean(subject.rpartition("/")[2], NAME)


def _moves(document: MigrationDocument, width: int, paint: Paint) -> list[str]:
    shown = document.moves[:MOST]
    if not shown:
        return []
    named, hosts = labels(document.inventory), _hosts(document)
    table: Table = {
        "GUEST": [named[move.guest] for move in shown],
        "FROM": [_host(hosts, move.origin) for move in shown],
        "TO": [_host(hosts, move.target) for move in shown],
        "LIVE": [move.live.value for move in shown],
        "COLD": [move.cold.value for move in shown],
        "BECAUSE OF": [_codes(move.reasons) for move in shown],
    }
    lines = draw(fit(table, width, LAYOUT), lambda heading, cell: _painted(paint, heading, cell))
    more = len(document.moves) - len(shown)
    return [*lines, *([f"and {more} more: --format json has all"] if more else [])]


def _painted(paint: Paint, heading: str, cell: str) -> str:
    return paint.cell(cell) if heading in ("LIVE", "COLD", "HOW") else cell


def _codes(reasons: Iterable[Reason]) -> str:
    """Return the codes of what blocks or leaves open, "-" where nothing does."""
    codes = [reason.code for reason in reasons if reason.stops or reason.unsure]
    return " ".join(dict.fromkeys(codes)) or "-"


def _reasons(document: MigrationDocument, moves: Iterable[Move], width: int) -> list[str]:
    """Return each reason once, with the guests and the other targets that it holds for too."""
    named, hosts = labels(document.inventory), _hosts(document)
    about: dict[tuple[Reason, str], dict[str, list[str]]] = {}
    for move in moves:
        name = _host(hosts, move.target)
        for reason in move.reasons:
            targets = about.setdefault(_alike(reason, name), {})
            targets.setdefault(name, []).append(named[move.guest])
    lines: list[str] = []
    for (reason, needs), targets in sorted(about.items(), key=lambda item: _order(item[0][0])):
        first = next(iter(targets))
        message = reason.message.replace(TARGET, first)
        lines += wrap(f"{_effect(reason)}: {message}", width, f"{reason.code} ")
        lines += wrap(_holds_for(targets, needs.replace(TARGET, first)), width, "       ")
    return lines


def _alike(reason: Reason, target: str) -> tuple[Reason, str]:
    """Return the reason without its target's name, so that those for several targets are one."""
    word = re.compile(rf"(?<![\w.-]){re.escape(target)}(?![\w-])")
    message, needs = (word.sub(TARGET, text) for text in (clean(reason.message), reason.needs))
    return replace(reason, message=message, needs=""), needs


def _holds_for(targets: Mapping[str, Sequence[str]], needs: str) -> str:
    """Return for which guests and targets a reason holds, and what would settle it."""
    guests = list(dict.fromkeys(guest for some in targets.values() for guest in some))
    others = list(targets)[1:]
    alike = f"; likewise to {listed(others)}" if others else ""
    return f"({listed(guests)}{alike}){f' To settle it: {needs}.' if needs else ''}"


def _order(reason: Reason) -> tuple[int, str, str]:
    return (0 if reason.stops else 1 if reason.unsure else 2), reason.code, reason.message


def _effect(reason: Reason) -> str:
    """Return what a reason does, in one or two words."""
    if reason.stops:
        return f"blocks {' and '.join(kind.value for kind in reason.stops)}"
    if reason.unsure:
        return f"leaves {' and '.join(kind.value for kind in reason.unsure)} unknown"
    return "to know"


def _causes(document: MigrationDocument, width: int) -> list[str]:
    """Return for how many moves each rule decides something."""
    blocked: Counter[str] = Counter()
    unknown: Counter[str] = Counter()
    titles = dict(document.titles)
    for move in document.moves:
        blocked.update({reason.code for reason in move.reasons if reason.stops})
        unknown.update({reason.code for reason in move.reasons if reason.unsure})
    return [
        line
        for code in sorted(blocked | unknown)
        for line in wrap(
            f"{titles.get(code, '')}: {_cause(blocked[code], unknown[code])}", width, f"{code} "
        )
    ]


def _cause(blocked: int, unknown: int) -> str:
    parts = [f"blocks {_counted(blocked, 'move')}"] if blocked else []
    parts += [f"leaves {_counted(unknown, 'move')} open"] if unknown else []
    return ", ".join(parts)


def _plan(document: MigrationDocument, width: int, paint: Paint) -> list[str]:
    plan: Plan | None = document.plan
    if plan is None or not plan.steps:
        return ["No guest is there."]
    named, hosts = labels(document.inventory), _hosts(document)
    table: Table = {
        "GUEST": [named[step.guest] for step in plan.steps],
        "HOW": [HOW[step.how] for step in plan.steps],
        "TO": [_host(hosts, step.target) if step.target else "-" for step in plan.steps],
        "WHY": [_why(step) for step in plan.steps],
    }
    lines = draw(fit(table, width, PLAN), lambda heading, cell: _painted(paint, heading, cell))
    for step in plan.steps:
        if step.how in ("stays", "unknown"):
            lines += ["", *wrap(_kept(document, step, named), width)]
            for reason in step.reasons:
                lines += wrap(f"{reason.code} {reason.message}", width, "  ", "    ")
    loads = "; ".join(
        f"{_host(hosts, host)} {before} to {after}" for host, before, after in plan.loads
    )
    if not loads:
        return lines
    return [*lines, "", *wrap(f"Guests a node, before to after: {loads}.", width)]


def _why(step: Step) -> str:
    notes = [_codes(step.reasons)] if step.reasons else []
    return " ".join([*notes, *(["copies disks"] if step.with_disks else [])]) or "-"


def _kept(document: MigrationDocument, step: Step, named: dict[str, str]) -> str:
    if step.how == "unknown":
        where = _host(_hosts(document), step.target)
        return f"Whether {named[step.guest]} can go to {where} is not known:"
    if step.reasons:
        return f"{named[step.guest]} cannot leave:"
    judged = any(move.guest == step.guest for move in document.moves)
    rules = "the cluster's rules on who may share a node leave none that takes it"
    return f"{named[step.guest]} cannot leave: {rules if judged else 'no other node is there'}."


def _gaps(document: MigrationDocument, width: int) -> list[str]:
    return [
        line
        for gap in document.inventory.gaps
        for line in wrap(f"{gap.subject}: {gap.reason}", width)
    ]
