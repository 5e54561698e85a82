"""Judge a guest as it will be after a stop and start."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from unmask.model.case import GuestCase
from unmask.model.finding import Problem
from unmask.rules import _scope, _words


def judged(
    case: GuestCase, problems: Callable[[GuestCase], Iterable[Problem]]
) -> Iterator[Problem]:
    """Yield what `problems` finds in the next start, each with where the CPU then comes from."""
    ahead = _scope.at_next_start(case)
    origin = _words.next_cpu(case, ahead)
    for problem in problems(ahead):
        yield replace(problem, evidence=(origin, *problem.evidence))
