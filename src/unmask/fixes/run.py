"""The order in which guests are changed: each step is journaled before it is begun.

    lock - read and compare - constraints again - WRITING - write - read back - WRITTEN
         - [STOPPING - STARTING - VERIFYING] - DONE

What does not stick is taken back at once (UNDOING, UNDONE). Where an answer was lost and a look
does not settle it, the guest is left FAILED, and `unmask recover` looks again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass

from unmask.errors import UnmaskError, UsageError
from unmask.fixes import journal
from unmask.fixes._change import Change, named
from unmask.fixes._lock import guest_lock
from unmask.fixes._restart import Restart, finish
from unmask.fixes._target import ChangedError, Target
from unmask.fixes.journal import Journal, JournalWriteError, Writer
from unmask.model.change import Constraint, Phase, Place, Plan
from unmask.model.inventory import GuestState
from unmask.model.run import Acknowledgement, GuestRun


@dataclass(frozen=True, slots=True)
class Orders:
    """What the operator wants beyond the change itself."""

    restart: bool = False
    """Shut a running guest down and start it again; one that is off stays off."""
    force_stop: bool = False
    """Pull the plug of a guest that does not shut down in time."""
    only_stopped: bool = False
    """Refuse guests that run."""
    auto_undo: bool = False
    """Take the change back where the guest does not come back."""
    keep_going: bool = False
    """Go on with the next guest after a failure."""
    seconds_down: float = 180
    seconds_up: float = 180
    reason: str = ""
    """Why constraints were taken on, in the operator's words."""


def _as_planned(plan: Plan) -> Sequence[Constraint]:
    return plan.constraints


def _nothing(_plan: Plan, _target: Target) -> None:
    """Prepare nothing."""


def _silent(_plan: Plan, _phase: Phase) -> None:
    """Say nothing."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """What a run is handed by whoever starts it."""

    open: Callable[[Place], Target]
    recheck: Callable[[Plan], Sequence[Constraint]] = _as_planned
    """Returns the constraints as they are now; one that was not acknowledged in these words stops
    the guest's change."""
    prepare: Callable[[Plan, Target], None] = _nothing
    """Makes the custom model, right before the write."""
    verify: Callable[[Plan], str] | None = None
    """Looks into a guest that was restarted, and says in a sentence what it has now; raises
    `UnmaskError` where the guest does not come back."""
    progress: Callable[[Plan, Phase], None] = _silent


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one guest."""

    plan: Plan
    run: str
    """The id, for `unmask undo`."""
    phase: Phase
    problem: str = ""
    """What went wrong, and what the guest has now; "" where all was done."""
    detail: str = ""
    """What there is to know beside: the proof, or that the change waits for a restart."""

    @property
    def unsettled(self) -> bool:
        """Return whether nobody knows what the guest has."""
        return not self.phase.settled


def apply(
    plans: Sequence[Plan], writer: Writer, book: Journal, hooks: Hooks, orders: Orders
) -> tuple[Outcome, ...]:
    """Change guests, one after the other and node by node.

    Args:
        plans: What is to be done.
        writer: The journal of this run, just begun.
        book: All journals.
        hooks: How to get at the guests, and what to ask before and after.
        orders: What the operator wants beyond the change.

    Returns:
        One outcome a plan, in the order in which they were done.

    Raises:
        UsageError: Two plans are of one guest.
        JournalWriteError: Nothing could be written down, so nothing was done.
    """
    subjects = [plan.place.subject for plan in plans]
    for twice in {subject for subject in subjects if subjects.count(subject) > 1}:
        raise UsageError(f"{twice}: there is more than one change of it; choose one")
    ordered = sorted(plans, key=lambda plan: plan.place.node)  # stable: as given within a node
    for plan in ordered:
        writer.plan(_as_guest(plan, orders.reason))
    outcomes: list[Outcome] = []
    for plan in ordered:
        stop = _reason_to_stop(outcomes, orders)
        if stop:
            outcomes.append(Outcome(plan, writer.ident, Phase.PLANNED, stop))
        else:
            outcomes.append(_one(plan, writer, book, hooks, orders))
    return tuple(outcomes)


def acknowledgements(plan: Plan, reason: str) -> tuple[Acknowledgement, ...]:
    """Return who takes on what, now."""
    return tuple(
        Acknowledgement(
            item.code, item.message, journal.user(), journal.host(), journal.now(), reason
        )
        for item in plan.constraints
        if item.acknowledged
    )


def _as_guest(plan: Plan, reason: str) -> GuestRun:
    return GuestRun(
        place=plan.place,
        wish=plan.wish,
        before=plan.before,
        after=plan.after,
        gained=plan.gained,
        lost=plan.lost,
        custom_model=plan.custom_model,
        acknowledgements=acknowledgements(plan, reason),
    )


def _reason_to_stop(outcomes: Sequence[Outcome], orders: Orders) -> str:
    failed = [outcome for outcome in outcomes if outcome.problem]
    if not failed:
        return ""
    if not orders.keep_going:
        return f"not begun, because {failed[0].plan.place.subject} failed"
    return ""


def _one(plan: Plan, writer: Writer, book: Journal, hooks: Hooks, orders: Orders) -> Outcome:
    """Change one guest; every error that we raise on purpose becomes an outcome."""
    change = Change(plan, writer, lambda phase: hooks.progress(plan, phase))
    try:
        _guarded(change, book, hooks, orders)
    except JournalWriteError as error:
        change.problem = f"{error}; the guest was left as it was then"
    return Outcome(plan, writer.ident, change.phase, change.problem, change.detail)


def _guarded(change: Change, book: Journal, hooks: Hooks, orders: Orders) -> None:
    plan = change.plan
    try:
        _refuse(plan, plan.constraints)
        with guest_lock(book.folder, plan.place), closing(hooks.open(plan.place)) as target:
            _before(change, target, hooks, orders)
            change.write(target, lambda: hooks.prepare(plan, target))
            if change.phase is Phase.WRITTEN:
                finish(change, target, _how(hooks, orders))
    except JournalWriteError:
        raise
    except UnmaskError as error:
        begun = change.phase is not Phase.PLANNED
        change.fail(Phase.FAILED if begun else Phase.REFUSED, str(error))


def _before(change: Change, target: Target, hooks: Hooks, orders: Orders) -> None:
    """Make sure that everything is as it was when this was planned and acknowledged."""
    plan = change.plan
    state = target.state() if orders.only_stopped else GuestState.STOPPED
    if state is not GuestState.STOPPED:
        raise ChangedError(
            f"{named(plan.place)}: the guest is {state}, and only stopped ones were to be changed"
        )
    change.compare(target)
    _refuse(plan, hooks.recheck(plan))


def _refuse(plan: Plan, constraints: Sequence[Constraint]) -> None:
    """Refuse what nobody has acknowledged in these words.

    Raises:
        ChangedError: There is such a constraint.
    """
    taken = {(item.code, item.message) for item in plan.constraints if item.acknowledged}
    for item in constraints:
        if item.fatal or (item.code, item.message) not in taken:
            raise ChangedError(
                f"{named(plan.place)}: nobody has acknowledged {item.code}: {item.message}; "
                "nothing was written; plan it again"
            )


def _how(hooks: Hooks, orders: Orders) -> Restart:
    return Restart(
        wanted=orders.restart,
        force=orders.force_stop,
        seconds_down=orders.seconds_down,
        seconds_up=orders.seconds_up,
        auto_undo=orders.auto_undo,
        verify=hooks.verify,
    )
