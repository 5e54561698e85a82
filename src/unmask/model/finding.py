"""Rules, what they say (`Problem`), and what becomes of it: `Finding`, `Skip`, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Any

from unmask.model.move_kind import BOTH, MoveKind


class Severity(IntEnum):
    """How much it matters, as far as this run could see."""

    INFO = 1
    LOW = 2
    MEDIUM = 3
    HIGH = 4
    CRITICAL = 5

    @property
    def word(self) -> str:
        """Return the lower-case name, as options and reports spell it."""
        return self.name.lower()


class Confidence(StrEnum):
    """How sure the rule is of its facts."""

    CERTAIN = "certain"
    FIRM = "firm"
    """Follows from documented behaviour of the hypervisor."""
    TENTATIVE = "tentative"
    """Rests on a declaration or a guess that the evidence names."""


class About(StrEnum):
    """Which case a rule looks at."""

    GUEST = "guest"
    HOST = "host"
    CLUSTER = "cluster"
    MOVE = "move"
    """A guest and a host where it would go."""
    CHANGE = "change"
    """A guest as it is, and as it would be with another CPU."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What a rule found in one case."""

    severity: Severity
    message: str
    """One sentence that names what is wrong with this subject."""
    evidence: tuple[str, ...] = ()
    """The facts that led to it, a sentence each."""
    remedy: str = ""
    """What to do, in one or two sentences."""
    command: str = ""
    """A command that does it, where there is one."""
    confidence: Confidence = Confidence.FIRM
    flags: tuple[str, ...] = ()
    """The CPU flags that it is about, sorted."""
    stops: tuple[MoveKind, ...] = ()
    """Of a move: the kinds that it blocks; none for what is only to be known."""
    unsure: tuple[MoveKind, ...] = ()
    """Of a move: the kinds that it leaves unknown."""
    needs: str = ""
    """Of a move: what would settle what is unknown."""
    fatal: bool = False
    """Of a change: nobody can take it on, since the change would be useless or impossible."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One check. `check` yields problems; it may raise `UnreadError`, which becomes a `Skip`."""

    code: str
    title: str
    """What is wrong where the rule fires, without a full stop."""
    about: About
    check: Callable[[Any], Iterable[Problem]]
    """Takes the case that `about` names: `GuestCase`, `HostCase`, `ClusterCase`, `MoveCase`
    or `ChangeCase`."""
    decides: tuple[MoveKind, ...] = BOTH
    """Of a rule about moves: the kinds that stay unknown where `check` raises."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem with its rule and subject."""

    code: str
    title: str
    subject: str
    """The guest's, host's or cluster's subject."""
    name: str
    """The subject's name for people."""
    host: str
    """The host's subject; "" for a cluster."""
    problem: Problem


@dataclass(frozen=True, slots=True)
class Skip:
    """A check that could not be made because something could not be read."""

    code: str
    subject: str
    reason: str
    needs: str = ""


@dataclass(frozen=True, slots=True)
class Accepted:
    """A finding that the operator has accepted, with the reason given."""

    finding: Finding
    reason: str
    expires: str
    """ISO date, or "" for no expiry."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """All that the rules said, findings ordered by severity (worst first), code, subject."""

    findings: tuple[Finding, ...] = ()
    skips: tuple[Skip, ...] = ()
    accepted: tuple[Accepted, ...] = ()
