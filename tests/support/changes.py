"""Plans, journals and runs for tests of what changes guests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from support.fake_target import FakeTarget, place
from unmask.fixes import run
from unmask.fixes._target import Target
from unmask.fixes.journal import Journal
from unmask.fixes.run import Hooks, Orders, Outcome
from unmask.model.change import Constraint, Place, Plan, Setting
from unmask.model.run import RunKind

CONSTRAINT = Constraint("RST001", "the guest has to be restarted", acknowledged=True)


def plan_for(
    target: Target,
    cpu: str | None = "host",
    constraints: Sequence[Constraint] = (),
    at: Place | None = None,
) -> Plan:
    """Return a plan that was made for a guest as it is now."""
    return Plan(
        place=at or place(),
        wish=cpu or "",
        before=target.read(),
        after=Setting(cpu),
        gained=("aes",),
        constraints=tuple(constraints),
    )


def opening(targets: Sequence[FakeTarget]) -> Callable[[Place], Target]:
    """Return what opens guests 101, 102 and so on, in this order."""
    return lambda where: targets[int(where.ident) - 101]


def applied(
    folder: Path,
    target: FakeTarget,
    plan: Plan,
    orders: Orders | None = None,
    hooks: Hooks | None = None,
) -> Outcome:
    """Apply one plan to one guest, with a journal in this directory."""
    book = Journal(folder)
    target.calls.clear()
    with book.begin(RunKind.FIX) as writer:
        (outcome,) = run.apply(
            [plan], writer, book, hooks or Hooks(lambda _: target), orders or Orders()
        )
    return outcome
