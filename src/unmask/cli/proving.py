"""What a change has brought, seen and measured inside the guests after their restart."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from unmask.benches import bench
from unmask.benches.bench import Effort, Wanted
from unmask.benches.bench import Site as BenchSite
from unmask.cli import measuring, terminal
from unmask.cli.fixing import Site
from unmask.errors import ChangeError, TargetError, UnmaskError
from unmask.fixes import proof
from unmask.measure.compare import compare
from unmask.model.bench import BenchResult
from unmask.model.case import GuestCase
from unmask.model.change import Plan
from unmask.model.reading import Known
from unmask.model.source import Interrupted

PAUSE = 1.0
"""Seconds between two looks whether a guest is back."""


@dataclass(slots=True)
class Prover:
    """Looks into guests that were restarted, and measures them where that is wanted."""

    where: Site
    seconds: float
    """What a guest may take to be back."""
    before: dict[str, BenchResult] | None
    """Benchmarks before the change, by subject; None where none are wanted."""
    proofs: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def verify(self, plan: Plan) -> str:
        """Look into a guest, and say in a sentence what it has now; `Hooks.verify`.

        Raises:
            UnmaskError: It does not come back, or does not see what it was to see.
        """
        subject = plan.place.subject
        old = next(case for case in self.where.cases() if case.guest.subject == subject)
        new = self._back(plan)
        told = list(proof.proof(plan, old, new))
        if self.before is not None:
            told += self._measured(plan)
        self.proofs[subject] = tuple(told)
        return "it was restarted, and was looked into"

    def _back(self, plan: Plan) -> GuestCase:
        from unmask.visits._visit import visit  # noqa: PLC0415 - only where it is wanted

        end = time.monotonic() + self.seconds
        subject = plan.place.subject
        while True:
            try:
                read = self.where.read_again()
            except TargetError as error:  # a moment's trouble is no reason to take a change back
                why = str(error)
            else:
                found = replace(read, guests=tuple(g for g in read.guests if g.subject == subject))
                try:
                    seen = visit(self.where.target, found, self.where.options)
                except Interrupted:
                    raise KeyboardInterrupt from None  # an error would take the change back
                guest = seen.guests[0] if seen.guests else None
                if guest and isinstance(guest.visit.inside, Known):
                    case = self.where.cases(seen)[0]
                    if isinstance(guest.visit.inside.value.cpu, Known):
                        return case
                why = next((gap.reason for gap in seen.gaps if gap.subject == subject), "")
            if time.monotonic() >= end:
                said = f"nobody could look into it within {self.seconds:g} s after its start"
                raise ChangeError(f"{said}: {why}" if why else said)
            time.sleep(PAUSE)

    def _measured(self, plan: Plan) -> list[str]:
        before = (self.before or {}).get(plan.place.subject)
        try:
            after = measured(self.where, [plan]).get(plan.place.subject)
        except UnmaskError as error:
            return [f"It could not be measured again: {error}."]
        if before is None or after is None or not (before.samples and after.samples):
            told = [
                text for one in (before, after) if one and not one.samples for text in one.problems
            ]
            return list(dict.fromkeys(told)) or ["It could not be measured, before or after."]
        return [change.sentence for change in compare(before, after)]


def measured(where: Site, plans: Sequence[Plan]) -> dict[str, BenchResult]:
    """Measure the guests of plans, quickly."""
    place = BenchSite(where.target, where.options, where.inventory)
    wanted = Wanted(Effort.QUICK, measuring.algorithms(""))
    names = [plan.place.subject for plan in plans]
    jobs = bench.guests([place], names, wanted, every=False)
    outcome = bench.run(jobs, 1, terminal.progress)
    if outcome.interrupted:
        raise KeyboardInterrupt
    return {job.who.subject: result for job, result in zip(jobs, outcome.results, strict=False)}
