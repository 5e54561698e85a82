"""What `unmask migrate-check` answers: moves, a plan to empty a node, and what was not read."""

from __future__ import annotations

from dataclasses import dataclass

from unmask.model.inventory import Inventory
from unmask.model.move import Move, Reason
from unmask.model.report import Run


@dataclass(frozen=True, slots=True)
class Step:
    """Where one guest of the node that is emptied goes."""

    guest: str
    """`Guest.subject`."""
    target: str
    """`Host.subject`; "" where it cannot leave, or that is not known."""
    how: str
    """"live", "cold" (it is stopped for it), "unknown" or "stays"."""
    with_disks: bool = False
    """Whether the move copies disks."""
    reasons: tuple[Reason, ...] = ()
    """Why it does not go alive, or not at all, one of each kind."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How a node is emptied."""

    node: str
    """`Host.subject`."""
    steps: tuple[Step, ...]
    """In the order in which to do them."""
    loads: tuple[tuple[str, int, int], ...] = ()
    """Each other host's subject with its number of guests before and after."""


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked; empty stands for nothing or all."""

    guests: tuple[str, ...] = ()
    """`Guest.subject`."""
    to: tuple[str, ...] = ()
    """`Host.subject`."""
    cpu: str = ""
    """The value of `--cpu`."""
    evacuate: str = ""
    """`Host.subject`."""
    matrix: bool = False

    @property
    def decides(self) -> bool:
        """Return whether something is asked that can be refused, not mere information."""
        return bool(self.guests or self.to or self.cpu or self.evacuate)


@dataclass(frozen=True, slots=True)
class MigrationDocument:
    """All that a report on moves may show."""

    run: Run
    question: Question
    inventory: Inventory
    moves: tuple[Move, ...]
    plan: Plan | None = None
    titles: tuple[tuple[str, str], ...] = ()
    """Each rule's code with its title."""
