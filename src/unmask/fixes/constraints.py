"""What a change costs, by the same rules as the audit, on the guest as it would be."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from unmask.cpu import move_views
from unmask.cpu.resolve import resolve
from unmask.engine import figures, moves, workloads
from unmask.engine.move_verdict import asked_way
from unmask.engine.observer import Sight
from unmask.errors import UnreadError
from unmask.model.case import GuestCase
from unmask.model.change import Constraint, Reach
from unmask.model.change_case import ChangeCase
from unmask.model.cpu import CpuSpec, FeatureView, State
from unmask.model.finding import About, Problem, Rule
from unmask.model.inventory import Guest, Inventory
from unmask.model.move import Move, Reason
from unmask.model.reading import Known, Missing
from unmask.model.visit import Visit
from unmask.rules import _scope

OF_THE_AUDIT = ("CPU002", "CPU007", "REQ001", "REQ003", "SEC001")
"""Rules on guests whose findings follow from the CPU alone."""
NOT_OF_THE_CPU = ("MIG011", "MIG012", "MIG015")
"""Reasons that the guest's state gives, for which the rules on changes have words of their own."""
NAMED = 6
"""Reasons of one code that are told one by one."""
CHANGED = Missing("nobody has looked since the change")


def as_changed(case: GuestCase, spec: CpuSpec) -> GuestCase:
    """Return the guest as it would be after a stop and start with another CPU."""
    guest = replace(
        case.guest,
        configured=spec,
        running=None,
        pending=None,
        accelerator=case.guest.pending_accelerator or case.guest.accelerator,
        pending_accelerator=None,
        visit=_before_that(case.guest),
    )
    host = case.host.value if isinstance(case.host, Known) else None
    missing = case.host if isinstance(case.host, Missing) else CHANGED
    view = resolve(
        spec,
        guest.arch,
        guest.accelerator,
        host.cpu if host else missing,
        host.offers if host else (),
        host.software.qemu if host else "",
    )
    hidden = dict.fromkeys(_scope.cleared(case), State.HIDDEN)
    sight = Sight(view, replace(view, states={**view.states, **hidden}))
    changed = replace(
        case,
        guest=guest,
        view=view,
        pending=None,
        observed=None,
        workloads=tuple(
            # The driver that was seen is the old CPU's.
            replace(
                workloads.judged(replace(item.workload, driver=""), sight), workload=item.workload
            )
            for item in case.workloads
        ),
    )
    return figures.applied(changed)


def _before_that(guest: Guest) -> Visit:
    inside = guest.visit.inside
    if not isinstance(inside, Known):
        return guest.visit
    return replace(guest.visit, inside=Known(replace(inside.value, cpu=CHANGED)))


def constraints(
    inventory: Inventory,
    rules: Sequence[Rule],
    change: ChangeCase,
    acks: Collection[str] = (),
) -> tuple[tuple[Constraint, ...], tuple[Reach, ...]]:
    """Return what has to be taken on, by code, and where the guest can go before and after.

    Args:
        inventory: The guest's own, with a custom model that has yet to be made.
        rules: All rules.
        change: The guest before and after.
        acks: Codes that the operator takes on.
    """
    before, after = _moves(inventory, rules, change)
    found = [
        *_of_changes(rules, change),
        *_of_audit(rules, change),
        *_of_moves(before, after),
    ]
    codes = {code.upper() for code in acks}
    told = [
        replace(item, acknowledged=not item.fatal and item.code in codes)
        for item in dict.fromkeys(found)
    ]
    told.sort(key=lambda item: (not item.fatal, item.code, item.message))
    return tuple(told), _reach(inventory, change.now.guest, before, after)


def fatal(rules: Sequence[Rule], change: ChangeCase) -> tuple[Constraint, ...]:
    """Return what stands in the way of any change at all."""
    return tuple(item for item in _of_changes(rules, change) if item.fatal)


def _of_changes(rules: Sequence[Rule], change: ChangeCase) -> Iterator[Constraint]:
    for rule in rules:
        if rule.about is About.CHANGE:
            yield from _said(rule, change)


def _said(rule: Rule, change: ChangeCase) -> Iterator[Constraint]:
    try:
        for problem in rule.check(change):
            yield Constraint(rule.code, problem.message, fatal=problem.fatal, remedy=problem.remedy)
    except UnreadError as error:
        yield _unread(rule.code, error)
    except Exception as error:
        error.add_note(f"raised by rule {rule.code} about {change.now.guest.subject}: a bug")
        raise


def _unread(code: str, error: UnreadError) -> Constraint:
    remedy = f"To settle it: {error.needs}." if error.needs else ""
    return Constraint(code, f"Not known: {error.reason.rstrip('.')}.", remedy=remedy)


def _of_audit(rules: Sequence[Rule], change: ChangeCase) -> Iterator[Constraint]:
    """Yield the findings that the audit would have after the change and does not have now."""
    if not change.then.view.starts:
        return  # what it would see does not matter where it does not start
    for rule in rules:
        if rule.code not in OF_THE_AUDIT:
            continue
        old, _ = _findings(rule, change.now)
        new, unread = _findings(rule, change.then)
        there = {problem.flags for problem in old}
        for problem in new:
            if problem.flags not in there:
                message = f"{problem.message.rstrip('.')}."
                yield Constraint(rule.code, message, remedy=problem.remedy)
        if unread and not _findings(rule, change.now)[1]:
            yield _unread(rule.code, unread)


def _findings(rule: Rule, case: GuestCase) -> tuple[list[Problem], UnreadError | None]:
    found: list[Problem] = []
    try:
        for problem in rule.check(case):
            found.append(problem)  # noqa: PERF402 - kept if a later step raises
    except UnreadError as error:
        return found, error
    return found, None


def _moves(
    inventory: Inventory, rules: Sequence[Rule], change: ChangeCase
) -> tuple[Mapping[str, Move], Mapping[str, Move]]:
    """Return the guest's moves by target: restarted as it is configured now, and as it would be."""
    now, then = change.now.guest, change.then.guest

    def judged(spec: CpuSpec) -> Mapping[str, Move]:
        asked = moves.Asked(
            guests=frozenset([now.subject]), cpu="as planned", specs={now.subject: spec}
        )
        return {move.target: move for move in moves.moves(inventory, rules, asked)}

    return judged(move_views.next_spec(now)), judged(then.configured)


def _of_moves(before: Mapping[str, Move], after: Mapping[str, Move]) -> Iterator[Constraint]:
    """Yield the reasons that are new, those of one code together."""
    found: dict[str, list[str]] = {}
    for target, move in after.items():
        old = before[target].reasons if target in before else ()
        known = {_essence(reason) for reason in old}
        for reason in move.reasons:
            decides = (reason.stops or reason.unsure) and reason.code not in NOT_OF_THE_CPU
            if decides and _essence(reason) not in known:
                found.setdefault(reason.code, []).append(reason.message)
    for code, messages in found.items():
        yield Constraint(
            code, _together(messages), remedy="unmask baseline shows what nodes share."
        )


def _essence(reason: Reason) -> tuple[object, ...]:
    return reason.code, reason.stops, reason.unsure, reason.features


def _together(messages: Iterable[str]) -> str:
    told = list(dict.fromkeys(messages))
    more = len(told) - NAMED
    end = f" And {more} more of this kind." if more > 0 else ""
    return " ".join(told[:NAMED]) + end


def _reach(
    inventory: Inventory, guest: Guest, before: Mapping[str, Move], after: Mapping[str, Move]
) -> tuple[Reach, ...]:
    names = {host.subject: host.name for host in inventory.hosts}
    return tuple(
        Reach(
            names.get(target, target),
            asked_way(guest, before[target]).value if target in before else "unknown",
            asked_way(guest, move).value,
        )
        for target, move in after.items()
    )


def shown(view: FeatureView) -> frozenset[str]:
    """Return the flags that a guest surely sees."""
    return frozenset(flag for flag in view.states if view.shows(flag))
