"""Look into the guests of one target: which ways are tried, in which order, and what is told."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace

from unmask import plugins
from unmask.connect import threads
from unmask.errors import UnmaskError
from unmask.model.inventory import Gap, Guest, GuestKind, GuestState, Inventory
from unmask.model.source import CollectOptions, Interrupted
from unmask.model.visit import Attempt, Visit, Way
from unmask.visits import _guest
from unmask.visits._channel import Channel, Hypervisor
from unmask.visits._nobody import Nobody

GRACE = 5.0
"""Seconds beyond what a guest may take, after which its thread is left behind."""

LATE = Attempt(Way.AGENT, "it did not end in time", "a longer --guest-timeout")
STOPPED = (GuestState.STOPPED, GuestState.SUSPENDED)
LABELS = {
    Way.AGENT: "by its guest agent",
    Way.SSH: "by SSH",
    Way.DISK: "on its disks",
    Way.NET: "over the network",
}


def visit(
    target: str,
    found: Inventory,
    options: CollectOptions,
    hypervisors: Sequence[Hypervisor] | None = None,
) -> Inventory:
    """Return the inventory with what was learnt of its guests, and a gap for each that kept shut.

    Guests are looked into side by side, each within its own time. Nothing is changed in them.
    `hypervisors` are the kinds of targets whose guests can be entered; by default the plug-ins.

    Raises:
        Interrupted: Ctrl-C was pressed; what was learnt until then is in it.
    """
    guests = [guest for guest in found.guests if _worth(guest, options)]
    if not guests:
        return found
    with opened(target, found, options, hypervisors) as channel:
        seconds = options.visits.seconds

        def work(guest: Guest) -> Visit:
            return _within(seconds + GRACE, _guest.Job(guest, channel, options, seconds))

        rounds = math.ceil(len(guests) / max(options.workers, 1))
        total = (seconds + 2 * GRACE) * rounds
        told = _Progress(options.progress, len(guests))
        done = threads.gather(work, guests, options.workers, total, told)
        options.progress("")
    visits = {guests[index].subject: future.result() for index, future in done.results.items()}
    result = _with(found, visits, _unvisited(guests, visits, interrupted=done.interrupted))
    if done.interrupted:
        raise Interrupted(result)
    return result


def _worth(guest: Guest, options: CollectOptions) -> bool:
    """Return whether there is anything to be learnt: a container shares its host's CPU."""
    return bool(options.visits.ways) and guest.kind is GuestKind.VM and not guest.template


def opened(
    target: str,
    found: Inventory,
    options: CollectOptions,
    hypervisors: Sequence[Hypervisor] | None = None,
) -> AbstractContextManager[Channel]:
    """Return the way to a target's guests; one that leads nowhere says why to whoever takes it.

    `hypervisors` are the kinds of targets whose guests can be entered; by default the plug-ins.
    """
    try:
        known = plugins.load("unmask.visits", "HYPERVISOR", Hypervisor)
        for hypervisor in known if hypervisors is None else hypervisors:
            if hypervisor.fits(target):
                return hypervisor.open(target, options, found)
    except UnmaskError as error:
        return nullcontext(Nobody(str(error)))
    return nullcontext(Nobody("there is no hypervisor that could be asked"))


def _within(seconds: float, job: _guest.Job) -> Visit:
    """Return what a visit has learnt, in time or not."""
    late = TimeoutError()
    try:
        return threads.within(seconds, job.run, late)
    except TimeoutError as error:
        if error is not late:
            raise
        learnt = job.visit
        return replace(learnt, attempts=(*learnt.attempts, replace(LATE, way=job.way)))


@dataclass(frozen=True, slots=True)
class _Progress:
    say: Callable[[str], None]
    number: int

    def __call__(self, done: int) -> None:
        self.say(f"looking into guests: {done} of {self.number}")


def _unvisited(
    guests: Sequence[Guest], visits: dict[str, Visit], *, interrupted: bool
) -> Iterator[Gap]:
    """Yield what has to be said of guests into which nobody could look."""
    for guest in guests:
        learnt = visits.get(guest.subject)
        if learnt is None:
            why = "reading was interrupted before it" if interrupted else "the time was used up"
            yield Gap(guest.subject, f"nobody looked inside: {why}")
        elif not learnt.inside.known and learnt.attempts:
            gap = _shut(guest, learnt)
            if gap:
                yield gap


def _shut(guest: Guest, learnt: Visit) -> Gap | None:
    """Return the gap of a guest that let nobody in; a stopped one has its disks to be read."""
    doors = (Way.DISK,) if guest.state in STOPPED else (Way.AGENT, Way.SSH)
    failed = [attempt for attempt in learnt.attempts if attempt.way in doors]
    if not failed:
        return None
    said = "; ".join(f"{LABELS[attempt.way]}: {attempt.reason}" for attempt in failed)
    needs = " or ".join(dict.fromkeys(attempt.needs for attempt in failed if attempt.needs))
    what = "what is encrypted there is not known" if guest.state in STOPPED else "not entered"
    return Gap(guest.subject, f"{what}: {said}", needs)


def _with(found: Inventory, visits: dict[str, Visit], gaps: Iterator[Gap]) -> Inventory:
    guests = tuple(
        replace(guest, visit=visits[guest.subject]) if guest.subject in visits else guest
        for guest in found.guests
    )
    every = sorted((*found.gaps, *gaps), key=lambda gap: (gap.subject, gap.reason))
    return replace(found, guests=guests, gaps=tuple(every))
