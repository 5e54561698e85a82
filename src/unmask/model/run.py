"""A run that changes guests, as its journal has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from unmask.model.change import Phase, Place, Setting


class RunKind(StrEnum):
    """What a run was for."""

    FIX = "fix"
    UNDO = "undo"


class Verdict(StrEnum):
    """What a guest was found to have, by whoever looked after a run had ended in its middle."""

    OLD = "old"
    """What it had before the run."""
    NEW = "new"
    """What the run was to give it."""
    OTHER = "other"
    """Neither: somebody else has changed it since, or the hypervisor made that of it."""
    GONE = "gone"
    """There is no such guest any more: the operator says so, or its VMID is another guest's now."""


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """A constraint that somebody took on."""

    code: str
    """Of the rule: "MIG002"."""
    text: str
    """The constraint's message, as it was shown."""
    user: str
    host: str
    time: str
    """UTC, "2026-12-01T10:00:00Z"."""
    reason: str = ""
    """The operator's words; "" for none."""


@dataclass(frozen=True, slots=True)
class Event:
    """One line of a journal: what was about to begin, or how it ended."""

    time: str
    phase: Phase
    detail: str = ""
    verdict: Verdict | None = None
    """Of `unmask recover`, which looked."""
    found: Setting | None = None
    """What a guest had when a change of it began to be taken back."""


@dataclass(frozen=True, slots=True)
class GuestRun:
    """One guest of a run."""

    place: Place
    wish: str
    before: Setting
    """What it had; its digest is of that moment."""
    after: Setting
    """What it was to have."""
    gained: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    custom_model: str = ""
    acknowledgements: tuple[Acknowledgement, ...] = ()
    events: tuple[Event, ...] = ()

    @property
    def last(self) -> Event:
        """Return the last event; that it was planned where nothing has begun."""
        return self.events[-1] if self.events else Event("", Phase.PLANNED)

    @property
    def phase(self) -> Phase:
        """Return how far it came."""
        return self.last.phase

    @property
    def settled(self) -> bool:
        """Return whether the guest is surely old or surely new, or was looked at afterwards."""
        return self.phase.settled or self.last.verdict is not None

    @property
    def ours(self) -> tuple[Setting, ...]:
        """Return what the run is known to have left in the guest, as planned or not."""
        return (self.after, *(event.found for event in self.events if event.found))

    @property
    def new(self) -> bool:
        """Return whether the guest was left with what the run was to give it."""
        return self.settled and self.phase in (Phase.WRITTEN, Phase.DONE)

    def after_event(self, event: Event) -> GuestRun:
        """Return this with one more event."""
        return replace(self, events=(*self.events, event))


@dataclass(frozen=True, slots=True)
class Run:
    """What one start of `unmask fix` or `unmask undo` did, or is doing."""

    ident: str
    """Sorts by time: "20261201-100000-3f9a2c"."""
    kind: RunKind
    started: str
    user: str
    host: str
    """The machine that it ran on."""
    version: str
    """Of unmask."""
    reason: str = ""
    undoes: str = ""
    """The run that it takes back; "" for none."""
    guests: tuple[GuestRun, ...] = ()
    live: bool = False
    """It is still going on, in another process."""

    @property
    def unsettled(self) -> tuple[GuestRun, ...]:
        """Return the guests of which nobody knows what they have; none while it goes on."""
        return () if self.live else tuple(guest for guest in self.guests if not guest.settled)


def undone_by(run: Run, guest: GuestRun, runs: Sequence[Run]) -> str:
    """Return the run that took back what `run` did to a guest; "" for none.

    One that was itself taken back does not count.
    """
    others = [other for other in runs if other.ident != run.ident]
    for other in others:
        if other.undoes != run.ident:
            continue
        for done in other.guests:
            same = done.new and done.place.subject == guest.place.subject
            if same and not undone_by(other, done, others):
                return other.ident
    return ""
