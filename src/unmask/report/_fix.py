"""The report on a change for people: each guest's plan, what it costs, and what became of it."""

from __future__ import annotations

from collections.abc import Iterator

from unmask.model.change import Constraint, Plan
from unmask.model.fix import FixDocument, Result
from unmask.report import _fix_diff
from unmask.report._grid import Layout, Table, draw, fit
from unmask.report._paint import Paint
from unmask.report._text import clean, wrap

GAINS = Layout(shrinkable={"WORKLOAD": 12, "WITH IT": 12, "NOW": 12}, droppable=())
MOVES = Layout(shrinkable={"TO": 8}, droppable=())
FLAGS = 24
"""Flags that are named one by one."""


def render(document: FixDocument, width: int, paint: Paint) -> str:
    """Return the report, for lines of `width` columns (0: unlimited)."""
    parts: list[list[str]] = []
    for plan in document.plans:
        parts += _plan(plan, width, paint)
    parts.append([line for item in document.refused for line in _refused(item, width)])
    if document.gaps:
        told = [line for gap in document.gaps for line in _gap(gap.subject, gap.reason, width)]
        parts.append([paint.heading("Not read"), *told])
    parts += [_result(document, item, width) for item in document.results]
    if document.run_id:
        parts.append(wrap(_undo(document), width))
    parts.append(wrap(document.verdict, width) if document.verdict else [])
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _refused(item: tuple[str, str], width: int) -> list[str]:
    subject, reason = item
    text = reason if reason.startswith(subject) else f"{subject}: {reason}"
    return wrap(f"No plan for {text}", width, "", "  ")


def _gap(subject: str, reason: str, width: int) -> list[str]:
    return wrap(f"{subject}: {reason}", width, "  ", "    ")


def _plan(plan: Plan, width: int, paint: Paint) -> Iterator[list[str]]:
    place = plan.place
    where = f" on {clean(place.node, 40)}" if place.node else ""
    name = f" ({clean(place.name, 60)})" if place.name else ""
    head = paint.heading(f"{clean(place.subject, 80)}{name}{where}")
    if plan.changes:
        body = [f"  {_fix_diff.safe(line)}" for line in _fix_diff.lines(plan)]
    else:
        body = wrap("Nothing to change.", width, "  ")
    for note in plan.notes:
        body += wrap(note, width, "  ")
    yield [head, *body]
    if not plan.changes and not plan.constraints:
        return
    if plan.custom_model:
        told = [f"  {clean(line)}" for line in plan.custom_model.splitlines() if line.strip()]
        yield [paint.heading("Custom model"), *told]
    yield [*_flags("Flags gained: ", plan.gained, width), *_flags("Flags lost: ", plan.lost, width)]
    yield _gains(plan, width, paint)
    yield _moves(plan, width, paint)
    yield _constraints(plan, width, paint)
    yield _steps(plan, width, paint)


def _flags(head: str, flags: tuple[str, ...], width: int) -> list[str]:
    if not flags:
        return []
    more = len(flags) - FLAGS
    end = f" and {more} more" if more > 0 else ""
    return wrap(f"{head}{' '.join(flags[:FLAGS])}{end}", width, "", "  ")


def _gains(plan: Plan, width: int, paint: Paint) -> list[str]:
    if not plan.gains:
        return []
    table: Table = {
        "WORKLOAD": [clean(item.workload, 60) for item in plan.gains],
        "NOW": [item.before for item in plan.gains],
        "WITH IT": [item.after for item in plan.gains],
        "HELPS": ["yes" if item.helps else "no" for item in plan.gains],
    }
    lines = draw(fit(table, width, GAINS), lambda _, cell: paint.cell(cell))
    for item in plan.gains:
        if item.why:
            lines += wrap(f"{clean(item.workload, 60)}: {item.why}", width, "", "  ")
    return lines


def _moves(plan: Plan, width: int, paint: Paint) -> list[str]:
    if not plan.reach or not plan.changes:
        return []
    table: Table = {
        "TO": [clean(item.node, 40) for item in plan.reach],
        "MOVES NOW": [item.before for item in plan.reach],
        "WITH IT": [item.after for item in plan.reach],
    }
    return draw(fit(table, width, MOVES), lambda _, cell: paint.cell(cell))


def _constraints(plan: Plan, width: int, paint: Paint) -> list[str]:
    if not plan.constraints:
        return []
    lines = [paint.heading("What it costs")]
    for item in plan.constraints:
        lines += wrap(f"{item.message}{_marked(item)}", width, f"  {item.code} ", " " * 9)
        if item.remedy and not item.acknowledged:
            lines += wrap(item.remedy, width, " " * 9)
    return lines


def _marked(item: Constraint) -> str:
    if item.fatal:
        return " [stops it]"
    return " [acknowledged]" if item.acknowledged else ""


def _steps(plan: Plan, width: int, paint: Paint) -> list[str]:
    if not plan.steps or any(item.fatal for item in plan.constraints):
        return []
    lines = [paint.heading("What will be done, and how it is done by hand")]
    for number, step in enumerate(plan.steps, 1):
        lines += wrap(step.what, width, f"  {number}. ")
        lines += [f"     $ {clean(step.command)}"] if step.command else []
    return lines


def _result(document: FixDocument, item: Result, width: int) -> list[str]:
    names = {plan.place.subject: plan.place.name for plan in document.plans}
    name = names.get(item.subject)
    head = f"{item.subject} ({clean(name, 60)})" if name else item.subject
    lines = wrap(f"{head}: {STATES.get(item.phase, item.phase)}.", width)
    if item.problem:
        lines += wrap(f"{item.problem}.", width, "  ")
    elif item.detail:
        lines += wrap(f"{item.detail[:1].upper()}{item.detail[1:].rstrip('.')}.", width, "  ")
    for sentence in item.proof:
        lines += wrap(sentence, width, "  ")
    return lines


STATES = {
    "planned": "not begun",
    "done": "changed",
    "written": "written, and not finished",
    "undone": "taken back",
    "refused": "not changed",
    "failed": "what it has now is not known",
}


def _undo(document: FixDocument) -> str:
    run = document.run_id
    phases = {item.phase for item in document.results}
    if phases <= {"planned", "refused", "undone"}:
        return f"This is run {run}, of which nothing is left to take back."
    ways = f" {document.ways}" if document.ways else ""
    if "failed" in phases:
        return f"This is run {run}; unmask recover{ways} looks what the guests have now."
    return f"This is run {run}; unmask undo {run}{ways} takes it back."
