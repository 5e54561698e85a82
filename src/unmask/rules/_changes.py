"""What the rules on changes share: how they speak, and which virtual machines they look at."""

from __future__ import annotations

from collections.abc import Collection

from unmask.cpu import move_views
from unmask.model.change_case import ChangeCase
from unmask.model.cpu import FeatureView
from unmask.model.finding import Problem, Severity
from unmask.rules import _scope

NESTING = move_views.NESTING


def told(
    message: str, remedy: str = "", *, flags: Collection[str] = (), fatal: bool = False
) -> Problem:
    """Return what a rule says of a change: a full sentence, and what can be done about it."""
    return Problem(
        severity=Severity.CRITICAL if fatal else Severity.INFO,
        message=message,
        remedy=remedy,
        flags=tuple(sorted(flags)),
        fatal=fatal,
    )


def is_vm(change: ChangeCase) -> bool:
    """Return whether the guest has a CPU of its own, whose configuration was read."""
    return _scope.has_cpu(change.now)


def shown(view: FeatureView) -> frozenset[str]:
    """Return the flags that are surely shown."""
    return frozenset(flag for flag in view.states if view.shows(flag))


def taken(change: ChangeCase) -> frozenset[str]:
    """Return the flags that the guest sees now and surely will not see any more."""
    return frozenset(flag for flag in shown(change.now.view) if change.then.view.hides(flag))
