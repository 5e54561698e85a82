"""What `unmask fix` has to tell: the plans, and what became of each guest."""

from __future__ import annotations

from dataclasses import dataclass

from unmask.model.change import Plan
from unmask.model.inventory import Gap
from unmask.model.report import Run


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one guest."""

    subject: str
    phase: str
    """`Phase`: "done", "refused", "written", "undone", "failed", "planned" (not begun)."""
    problem: str = ""
    """What went wrong, and what the guest has now; "" where all was done."""
    detail: str = ""
    """What there is to know beside: that the change waits for a restart."""
    proof: tuple[str, ...] = ()
    """What was seen inside the guest afterwards, a sentence each."""


@dataclass(frozen=True, slots=True)
class FixDocument:
    """Everything that a report on a change may show."""

    run: Run
    wish: str
    plans: tuple[Plan, ...]
    refused: tuple[tuple[str, str], ...] = ()
    """Guests for which there is no plan, by subject, with the reason."""
    results: tuple[Result, ...] = ()
    run_id: str = ""
    """For `unmask undo`; "" where nothing was begun."""
    verdict: str = ""
    """Why nothing was written, a full sentence; "" where something was begun or asked for."""
    ways: str = ""
    """The options by which the target was entered, for the commands that are named; shell words."""
    gaps: tuple[Gap, ...] = ()
    """What could not be read of the guests that are planned."""
