"""A guest's move from one host to another: whether it goes, alive or stopped, and why not."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from unmask.model.case import GuestCase
from unmask.model.cpu import FeatureView
from unmask.model.inventory import Cluster, Host
from unmask.model.move_kind import MoveKind
from unmask.model.reading import Missing, Reading


class Answer(StrEnum):
    """Whether a move goes."""

    POSSIBLE = "possible"
    BLOCKED = "blocked"
    UNKNOWN = "unknown"
    """Something that decides it could not be read: never taken for possible."""


@dataclass(frozen=True, slots=True)
class MoveCase:
    """A guest, the host where it would go, and what its CPU would be there."""

    case: GuestCase
    """The guest where it is now; with `--cpu` the guest as it would be."""
    target: Host
    alive: FeatureView
    """The CPU that it runs with, given to the target: `lost` holds what the target cannot give."""
    started: FeatureView
    """The CPU of its next start, on the target."""
    doubt: frozenset[str] = frozenset()
    """Flags that it runs with and of which it is not known whether the target can give them."""
    unread: Missing | None = None
    """Why it is not known what the target can give; `lost` is then empty for that reason."""
    cluster: Cluster | None = None
    """The target's."""
    neighbours: frozenset[str] = frozenset()
    """`Guest.subject` of those that are on the target."""
    asked_cpu: str = ""
    """The value of `--cpu`: the guest is judged as it would be after a restart with it."""
    start_doubt: frozenset[str] = frozenset()
    """Flags that its next start demands, and of which it is not known whether the target has them.
    """

    @property
    def source(self) -> Reading[Host]:
        """Return the host where it is now."""
        return self.case.host


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a move is blocked or unknown, or what it costs."""

    code: str
    """Of the rule: "MIG001"."""
    message: str
    """A full sentence."""
    stops: tuple[MoveKind, ...] = ()
    """The kinds of move that it blocks; none for what is only to be known."""
    unsure: tuple[MoveKind, ...] = ()
    """The kinds of move that it leaves unknown."""
    features: tuple[str, ...] = ()
    """CPU flags, sorted."""
    needs: str = ""
    """What would settle what is unknown."""


@dataclass(frozen=True, slots=True)
class Move:
    """One guest, one direction, and the answers."""

    guest: str
    """`Guest.subject`."""
    origin: str
    """`Host.subject` of where it is."""
    target: str
    """`Host.subject` of where it would go."""
    live: Answer
    """BLOCKED with the reason that it does not run, where it does not."""
    cold: Answer
    reasons: tuple[Reason, ...] = ()
