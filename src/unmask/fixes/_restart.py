"""From a change that is written to one that is in force: off, on, and a look inside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from unmask.errors import UnmaskError
from unmask.fixes._change import Change, named
from unmask.fixes._target import Target
from unmask.fixes.journal import JournalWriteError
from unmask.model.change import Phase, Plan
from unmask.model.inventory import GuestState


@dataclass(frozen=True, slots=True)
class Restart:
    """How a guest is restarted."""

    wanted: bool
    force: bool
    """Pull the plug where it does not shut down in time."""
    seconds_down: float
    seconds_up: float
    auto_undo: bool
    verify: Callable[[Plan], str] | None


def finish(change: Change, target: Target, how: Restart) -> None:
    """Bring a written change to its end; ends DONE, WRITTEN with a problem, UNDONE or FAILED.

    Raises:
        JournalWriteError: The phase is the last that could be written down.
    """
    try:
        state = target.state()
    except UnmaskError as error:
        change.fail(Phase.WRITTEN, f"it is written; whether the guest runs is not known: {error}")
        return
    if state is not GuestState.RUNNING or not how.wanted:
        change.detail = _pending(state)
        change.step(Phase.DONE, change.detail)
        return
    try:
        _off_and_on(change, target, how)
        if how.verify:
            change.step(Phase.VERIFYING)
            change.detail = how.verify(change.plan)
    except JournalWriteError:
        raise
    except UnmaskError as error:
        _failed(change, target, how, str(error))
    else:
        change.step(Phase.DONE, change.detail)


def _pending(state: GuestState) -> str:
    if state is GuestState.STOPPED:
        return "the guest is off; it has its new CPU when it is started"
    return (
        f"the guest is {state}; it keeps its CPU until it is shut down and started again: its own "
        "reboot does not do it"
    )


def _off_and_on(change: Change, target: Target, how: Restart) -> None:
    change.step(Phase.STOPPING)
    target.shut_down(how.seconds_down, force=how.force)
    try:
        change.step(Phase.STARTING)
    except JournalWriteError:
        target.start(how.seconds_up)  # a full disk here is no reason to leave a guest off
        raise
    target.start(how.seconds_up)


def _failed(change: Change, target: Target, how: Restart, why: str) -> None:
    """Say what became of a guest that is not back, or take the change back where that is wanted."""
    step, state = change.phase, _state(target)
    if not how.auto_undo:
        change.fail(
            Phase.WRITTEN,
            f"{named(change.plan.place)}: {why}; the guest is {state} and its change is written; "
            f"to go back: unmask undo {change.writer.ident} --restart",
        )
        return
    change.undo(target, why)
    if change.phase is not Phase.UNDONE or (step is Phase.STOPPING and state != "stopped"):
        return  # a guest that never went off has its old CPU still
    try:
        if state != "stopped":
            change.step(Phase.STOPPING)
            target.shut_down(how.seconds_down, force=how.force)
        change.step(Phase.STARTING)
        target.start(how.seconds_up)
    except JournalWriteError:
        raise
    except UnmaskError as error:
        change.fail(
            Phase.UNDONE, f"{change.problem}, but it is {_state(target)}, with its old CPU: {error}"
        )
    else:
        change.fail(Phase.UNDONE, f"{change.problem}, and the guest was started with it")


def _state(target: Target) -> str:
    try:
        return str(target.state())
    except UnmaskError:
        return "in a state that is not known"
