"""What runs that ended in their middle have left behind: found, refused to be built on, settled.

A guest is settled by looking at it. Nothing is written to it, except that an undo which had begun
may be brought to its end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime

from unmask.errors import ChangeError, UnmaskError
from unmask.fixes._change import ANOTHER, named, put_back, shown
from unmask.fixes._lock import guest_lock
from unmask.fixes._target import Target
from unmask.fixes.journal import Journal, Writer
from unmask.model.change import Phase, Place, Setting
from unmask.model.inventory import GuestState
from unmask.model.run import GuestRun, Run, Verdict

PATIENCE = 30.0
"""Seconds after which a hypervisor that was told something has done it, or never will."""


class UnsettledError(ChangeError):
    """An earlier run ended in its middle; nothing new is begun before it is settled."""


@dataclass(frozen=True, slots=True)
class Settled:
    """What a look at one guest has shown."""

    run: Run
    guest: GuestRun
    verdict: Verdict | None
    """None where it could not be looked at: it is still unsettled."""
    detail: str

    @property
    def sentence(self) -> str:
        """Return the whole of it in one sentence."""
        return f"{named(self.guest.place)}, run {self.run.ident}: {self.detail}"


@dataclass(frozen=True, slots=True)
class Ways:
    """How to look, and how far to go."""

    open: Callable[[Place], Target]
    finish_undo: bool = False
    """Bring an undo that had begun to its end."""
    gone: Collection[str] = ()
    """Guests of which the operator says that they no longer exist: VMID, UUID, name or subject."""
    patience: float = PATIENCE
    sleep: Callable[[float], None] = time.sleep


def unsettled(book: Journal) -> tuple[tuple[Run, GuestRun], ...]:
    """Return the guests of which nobody knows what they have, the oldest run first.

    Raises:
        JournalError: A journal cannot be read.
    """
    return tuple((run, guest) for run in book.runs() for guest in run.unsettled)


def refuse_unsettled(book: Journal) -> None:
    """Refuse to begin anything while an earlier run is not settled.

    Raises:
        UnsettledError: There is one; the message names the guests.
        JournalError: A journal cannot be read.
    """
    found = unsettled(book)
    if found:
        guests = ", ".join(f"{named(guest.place)} in run {run.ident}" for run, guest in found[:5])
        more = f" and {len(found) - 5} more" if len(found) > 5 else ""
        raise UnsettledError(
            f"an earlier run ended before it was known what became of {guests}{more}; nothing was "
            "begun; run `unmask recover`, which looks"
        )


def recover(book: Journal, ways: Ways) -> tuple[Settled, ...]:
    """Look at every guest that is not settled, and write down what it has.

    Raises:
        BusyError: Somebody else is at it.
        JournalError: A journal cannot be read.
    """
    found: list[Settled] = []
    for ident in book.idents():
        run = book.load(ident)
        if run and run.unsettled:
            found += _run(book, ident, ways)
    return tuple(found)


def _run(book: Journal, ident: str, ways: Ways) -> list[Settled]:
    with book.reopen(ident) as writer:
        run = book.load(ident)  # once more, now that it is ours
        guests = [guest for guest in run.guests if not guest.settled] if run else []
        return [_guest(book, run, guest, writer, ways) for guest in guests if run]


def _guest(book: Journal, run: Run, guest: GuestRun, writer: Writer, ways: Ways) -> Settled:
    place = guest.place
    if {place.ident, place.name, place.subject}.intersection(ways.gone):
        detail = "the operator says that it no longer exists"
        writer.event(place, Phase.FAILED, detail, Verdict.GONE)
        return Settled(run, guest, Verdict.GONE, detail)
    try:
        with guest_lock(book.folder, place), closing(ways.open(place)) as target:
            verdict, detail = _look(target, guest, writer, ways)
            writer.event(place, _phase(guest, verdict), detail, verdict)
    except UnmaskError as error:
        return Settled(run, guest, None, f"it is not known what it has: {error}")
    return Settled(run, guest, verdict, detail)


def _look(target: Target, guest: GuestRun, writer: Writer, ways: Ways) -> tuple[Verdict, str]:
    found = target.read()
    if found.of_another_guest(guest.before):
        return Verdict.GONE, ANOTHER.format(ident=guest.place.ident)
    verdict = _verdict(target, guest, found)
    left = _seconds_left(guest, ways.patience)
    if left and verdict is not _awaited(guest):
        ways.sleep(left)  # what was sent last may still be on its way
        found = target.read()
        verdict = _verdict(target, guest, found)
    ours = any(target.same(found, setting) for setting in guest.ours)
    if ours and guest.phase is Phase.UNDOING and ways.finish_undo:
        writer.event(guest.place, Phase.UNDOING, "taken up again by unmask recover")
        problem = put_back(target, found, guest.before)
        if problem:
            raise ChangeError(f"it could not be taken back: {problem}")
        return Verdict.OLD, "the undo was finished: it has what it had before"
    return verdict, _words(guest, verdict, found) + _power(target, guest)


def _verdict(target: Target, guest: GuestRun, found: Setting) -> Verdict:
    if target.same(found, guest.after):
        return Verdict.NEW
    return Verdict.OLD if target.same(found, guest.before) else Verdict.OTHER


def _awaited(guest: GuestRun) -> Verdict:
    """Return what the guest has once everything that was sent has arrived."""
    return Verdict.OLD if guest.phase is Phase.UNDOING else Verdict.NEW


def _seconds_left(guest: GuestRun, patience: float) -> float:
    """Return for how long what was begun last may still be under way."""
    try:
        begun = datetime.strptime(guest.last.time, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except ValueError:
        return patience
    passed = (datetime.now(UTC) - begun).total_seconds()
    return min(max(patience - passed, 0.0), patience)


def _phase(guest: GuestRun, verdict: Verdict) -> Phase:
    if verdict is Verdict.NEW:
        return Phase.WRITTEN
    if verdict in (Verdict.OTHER, Verdict.GONE):
        return Phase.FAILED
    return Phase.REFUSED if guest.phase is Phase.WRITING else Phase.UNDONE


def _words(guest: GuestRun, verdict: Verdict, found: Setting) -> str:
    if verdict is Verdict.NEW:
        told = " (the undo that had begun was not done)" if guest.phase is Phase.UNDOING else ""
        return f"it has its new CPU, {shown(found)}{told}"
    if verdict is Verdict.OLD:
        return f"it has what it had before, {shown(found)}"
    return (
        f"its CPU is {shown(found)}, which is neither what it had ({shown(guest.before)}) nor what "
        f"it was to have ({shown(guest.after)}): somebody else has changed it since, or the "
        "hypervisor made that of it; look at it"
    )


def _power(target: Target, guest: GuestRun) -> str:
    """Return that a guest is off which was to be started again; "" for any other."""
    restarted = any(event.phase in (Phase.STOPPING, Phase.STARTING) for event in guest.events)
    if not restarted:
        return ""
    try:
        state = target.state()
    except UnmaskError as error:
        return f"; whether it runs is not known: {error}"
    off = state is GuestState.STOPPED
    return "; it is off, and was to be started again: start it" if off else ""
