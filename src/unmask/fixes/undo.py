"""What it takes to give guests back what they had before a run: plans, for `unmask.fixes.run`.

Only where the guest still has what the run gave it; whoever has changed it since is not undone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass

from unmask.dialects.libvirt.cpu_words import brief
from unmask.errors import UnmaskError, UsageError
from unmask.fixes._change import ANOTHER, named, shown
from unmask.fixes._target import Target
from unmask.model.change import Place, Plan, Setting, Step
from unmask.model.run import GuestRun, Run, undone_by


@dataclass(frozen=True, slots=True)
class Left:
    """A guest of a run that will not be given back what it had."""

    place: Place
    why: str
    failed: bool
    """Something stands in the way; otherwise there is nothing to undo."""


@dataclass(frozen=True, slots=True)
class Undo:
    """What undoing a run comes to."""

    plans: tuple[Plan, ...]
    left: tuple[Left, ...]


def plan(
    run: Run, runs: Sequence[Run], wanted: Sequence[str], open_target: Callable[[Place], Target]
) -> Undo:
    """Look at the guests of a run, and return what is to be written to each.

    Args:
        run: The one to take back.
        runs: All of them: one of these may have taken it back already.
        wanted: VMIDs, UUIDs, names or subjects; all of the run's guests where empty.
        open_target: How to get at a guest.

    Raises:
        UsageError: The run is still going on, or has no such guest.
    """
    if run.live:
        raise UsageError(f"run {run.ident} is still going on; wait until it has ended")
    plans: list[Plan] = []
    left: list[Left] = []
    for guest in _chosen(run, wanted):
        try:
            made = _guest(run, guest, runs, open_target)
        except UnmaskError as error:
            made = Left(guest.place, f"{named(guest.place)}: {error}", failed=True)
        if isinstance(made, Plan):
            plans.append(made)
        else:
            left.append(made)
    return Undo(tuple(plans), tuple(left))


def _chosen(run: Run, wanted: Sequence[str]) -> list[GuestRun]:
    chosen: list[GuestRun] = []
    for name in wanted:
        fitting = [
            guest
            for guest in run.guests
            if name in (guest.place.ident, guest.place.name, guest.place.subject)
        ]
        if len(fitting) != 1:
            count = "no guest" if not fitting else f"{len(fitting)} guests"
            raise UsageError(f"run {run.ident} has {count} called {name!r}; unmask history lists")
        chosen += fitting
    return list(dict.fromkeys(chosen)) if wanted else list(run.guests)


def _guest(
    run: Run, guest: GuestRun, runs: Sequence[Run], open_target: Callable[[Place], Target]
) -> Plan | Left:
    name, place = named(guest.place), guest.place
    if not guest.new:
        return Left(place, f"{name}: run {run.ident} did not change it", failed=False)
    taken_back = undone_by(run, guest, runs)
    if taken_back:
        return Left(place, f"{name}: run {taken_back} has taken it back already", failed=False)
    with closing(open_target(place)) as target:
        now = target.read()
        if now.of_another_guest(guest.before):
            return Left(place, f"{name}: {ANOTHER.format(ident=place.ident)}", failed=True)
        if target.same(now, guest.after):
            return _plan(run, guest, now)
        if target.same(now, guest.before):
            return Left(place, f"{name}: it has what it had before already", failed=False)
    return Left(
        place,
        f"{name}: its CPU is {shown(now)} now, and run {run.ident} made it {shown(guest.after)}: "
        "somebody has changed it since, so it was left as it is",
        failed=True,
    )


def _plan(run: Run, guest: GuestRun, now: Setting) -> Plan:
    before = guest.before
    what = (
        f"set its CPU to {brief(before.value)} again"
        if before.value
        else "take its CPU's setting out"
    )
    return Plan(
        place=guest.place,
        wish=f"undo {run.ident}",
        before=now,
        after=Setting(before.value),
        gained=guest.lost,
        lost=guest.gained,
        steps=(Step(what),),
    )
