"""Plans, journals and runs for tests of what changes guests."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from support.fake_target import FakeTarget, place
from unmask.fixes import run
from unmask.fixes._target import Target
from unmask.fixes.journal import Journal
from unmask.fixes.run import Hooks, Orders, Outcome
from unmask.model.change import Constraint, Phase, Place, Plan, Setting
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


def phases(folder: Path, position: int = 0) -> list[Phase]:
    """Return what the only run's journal has of a guest."""
    (only,) = Journal(folder).runs()
    return [event.phase for event in only.guests[position].events]


def cpu(target: FakeTarget) -> str | None:
    """Return what a guest's configuration says."""
    return target.store.load().cpu


def full_when(monkeypatch: pytest.MonkeyPatch, phase: Phase) -> None:
    """Let the disk be full when this phase is to be written down."""
    real = os.write

    def write(number: int, data: bytes) -> int:
        if f'"phase":"{phase}"'.encode() in data:
            raise OSError(28, "No space left on device")
        return real(number, data)

    monkeypatch.setattr(os, "write", write)
