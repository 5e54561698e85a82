"""One guest's change: the write, the look at what became of it, and the way back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from unmask.errors import ChangeError, UnmaskError
from unmask.fixes._target import ChangedError, Target
from unmask.fixes.journal import Writer
from unmask.model.change import Phase, Place, Plan, Setting


def named(place: Place) -> str:
    """Return how a guest is called in messages: "lab/101 (web)"."""
    return f"{place.subject} ({place.name})" if place.name else place.subject


def shown(setting: Setting) -> str:
    """Return what a setting says, in one line."""
    return "not set" if setting.value is None else " ".join(setting.value.split())


ANOTHER = "{ident} is another guest now, made at another time: it was left as it is"
"""What is said where an identifier was given to another guest since a run."""


@dataclass(slots=True)
class Change:
    """How far the change of one guest has come; the journal always knows as much or more."""

    plan: Plan
    writer: Writer
    told: Callable[[Phase], None]
    """Is told each phase when it begins."""
    phase: Phase = Phase.PLANNED
    """The last one that is in the journal."""
    problem: str = ""
    detail: str = ""
    now: Setting = field(default_factory=lambda: Setting(None))
    """What was last read."""

    def step(self, phase: Phase, detail: str = "", found: Setting | None = None) -> None:
        """Journal what begins now.

        Raises:
            JournalWriteError: It must not begin.
        """
        self.writer.event(self.plan.place, phase, detail, found=found)
        self.phase = phase
        self.told(phase)

    def fail(self, phase: Phase, problem: str) -> None:
        """Journal that it ended in this phase, and with what problem."""
        self.problem = problem
        self.step(phase, problem)

    def compare(self, target: Target) -> None:
        """Read the guest's configuration and hold it against the plan.

        Raises:
            ChangedError: It is no longer as it was planned for.
            TargetError: It cannot be read.
        """
        self.now = target.read()
        before, name = self.plan.before, named(self.plan.place)
        if not target.same(self.now, before):
            raise ChangedError(
                f"{name}: its CPU is {shown(self.now)} now, and was {shown(before)} when this was "
                "planned; nothing was written; plan it again"
            )
        if before.digest and self.now.digest != before.digest:
            raise ChangedError(
                f"{name}: somebody has changed its configuration since this was planned; nothing "
                "was written; plan it again"
            )

    def write(self, target: Target, prepare: Callable[[], None]) -> None:
        """Write, and look at what became of it; ends WRITTEN, REFUSED, UNDONE or FAILED.

        Raises:
            JournalWriteError: The phase is the last that could be written down.
        """
        self.step(Phase.WRITING)
        refused, lost = "", ""
        try:
            prepare()
        except UnmaskError as error:
            self.fail(Phase.REFUSED, f"{error}; the guest itself was not touched")
            return
        try:
            target.write(self.now, self.plan.after)
        except ChangedError as error:
            self.fail(Phase.REFUSED, str(error))
            return
        except ChangeError as error:
            refused = str(error)
        except UnmaskError as error:
            lost = str(error)
        self._look(target, refused, lost)

    def _look(self, target: Target, refused: str, lost: str) -> None:
        """Read back, and end in the phase that fits what is there."""
        said = refused or lost
        found = self._read(target)
        if found is None:
            why = f"{said or 'it was written'}, and it could not be read back ({self.problem})"
            self.fail(Phase.FAILED, f"{why}; {self._look_later}")
            return
        self.now = found
        old, new = target.same(found, self.plan.before), target.same(found, self.plan.after)
        if new and not refused:
            self.step(Phase.WRITTEN, f"the answer was lost ({lost})" if lost else "")
        elif old and not lost:
            self.fail(Phase.REFUSED, refused or "the hypervisor took it and did not keep it")
        elif said:
            self.fail(Phase.FAILED, f"{said}; its CPU is {shown(found)}; {self._look_later}")
        else:
            self.undo(target, f"the hypervisor made {shown(found)} of it, which is not as planned")

    def _read(self, target: Target) -> Setting | None:
        try:
            return target.read()
        except UnmaskError as error:
            self.problem = str(error)
            return None

    def undo(self, target: Target, why: str) -> None:
        """Take back what was written, for this reason; ends UNDONE or FAILED.

        Raises:
            JournalWriteError: As for `write`.
        """
        self.step(Phase.UNDOING, why, self.now)
        try:
            problem = put_back(target, self.now, self.plan.before)
        except UnmaskError as error:
            problem = str(error)
        if problem:
            self.fail(Phase.FAILED, f"{why}; it could not be taken back: {problem}; look at it")
        else:
            self.fail(Phase.UNDONE, f"{why}; what was there before is there again")

    @property
    def _look_later(self) -> str:
        return "run `unmask recover`, which looks again"


def put_back(target: Target, ours: Setting, before: Setting) -> str:
    """Write what was there before over what is ours, and return why it is not so; "" if it is.

    Raises:
        ChangedError: It is no longer ours.
        UnmaskError: As the target's methods do.
    """
    found = target.read()
    if not target.same(found, ours):
        raise ChangedError(f"its CPU is {shown(found)} now, which somebody else has set")
    target.write(found, before)
    found = target.read()
    return "" if target.same(found, before) else f"its CPU is {shown(found)}"
