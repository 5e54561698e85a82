"""In which order machines are measured: one of a node at a time, several nodes in parallel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from unmask.benches._machine import Subject
from unmask.connect import threads
from unmask.errors import UnmaskError
from unmask.model.bench import BenchResult

LONGEST = 24 * 3600.0
"""Seconds after which nobody waits any more; each machine has a limit of its own."""


@dataclass(frozen=True, slots=True)
class Job:
    """One machine that is to be measured."""

    who: Subject
    work: Callable[[], BenchResult]


@dataclass(slots=True)
class Outcome:
    """What came of all jobs."""

    results: list[BenchResult] = field(default_factory=list)
    """In the order of the jobs; one that failed has no samples, and says why."""
    interrupted: bool = False


def run(jobs: Sequence[Job], workers: int, say: Callable[[str], None]) -> Outcome:
    """Do all jobs and return what came of them.

    Those whose node is not known may share one, and are done one after the other. Ctrl-C ends the
    waiting: what is done until then is returned.

    Args:
        jobs: The machines.
        workers: Nodes at once.
        say: Is told how far it is, a few words at a time; "" when it is over.
    """
    groups: dict[str, list[Job]] = {}
    for job in jobs:
        groups.setdefault(job.who.host, []).append(job)
    done: dict[str, BenchResult] = {}

    def work(group: list[Job]) -> None:
        for job in group:
            label = job.who.name or job.who.subject
            say(f"measuring {label}: {len(done)} of {len(jobs)} done")
            done[job.who.subject] = _result(job)

    def told(_: int) -> None:
        """Leave the line as the groups have written it."""

    gathered = threads.gather(work, list(groups.values()), workers, LONGEST, told)
    say("")
    for future in gathered.results.values():
        future.result()  # a bug in a job is not lost
    results = [done[job.who.subject] for job in jobs if job.who.subject in done]
    return Outcome(results, interrupted=gathered.interrupted)


def _result(job: Job) -> BenchResult:
    try:
        return job.work()
    except UnmaskError as error:
        who = job.who
        problem = f"It could not be measured: {error}"
        return BenchResult(who.subject, who.name, who.host, problems=(problem,))
