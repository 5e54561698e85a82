"""What one run of a program printed, and the samples that come of it."""

from __future__ import annotations

from dataclasses import dataclass

from unmask.dialects.bench import _screen
from unmask.dialects.bench._ending import ILLEGAL, KILLED, by_status, missing_program
from unmask.dialects.bench._quantity import doubt
from unmask.model.bench import PLAIN, Ended, Sample, Tool

SAMPLES = 500
"""That one text gives at most; the rest is left."""


@dataclass(frozen=True, slots=True)
class Output:
    """A program's output, readable (`_screen.readable`)."""

    tool: Tool
    program: str
    """For notes: "cryptsetup benchmark"."""
    text: str
    setting: str = PLAIN
    status: int | None = None
    """How it ended, see `by_status`; None where that is not known."""

    def measured(
        self,
        algorithm: str,
        rate: float,
        *,
        block: int | None = None,
        seconds: float | None = None,
        note: str = "",
        wrong: str = "",
    ) -> Sample:
        """Return the sample of a rate, which it has not where it cannot be or `wrong` says why."""
        wrong = wrong or doubt(rate)
        return Sample(
            tool=self.tool,
            algorithm=algorithm,
            setting=self.setting,
            ended=Ended.INVALID if wrong else Ended.WELL,
            rate=None if wrong else rate,
            block=block,
            seconds=seconds,
            note=_screen.sentence(wrong or note),
            raw=_screen.quoted(self.text),
        )

    def unmeasured(self, algorithm: str, ended: Ended, note: str) -> Sample:
        """Return a sample without a figure; `note` says why."""
        return Sample(
            tool=self.tool,
            algorithm=algorithm,
            setting=self.setting,
            ended=ended,
            note=_screen.sentence(note),
            raw=_screen.quoted(self.text),
        )

    def nothing(self, algorithm: str, complaint: str = "") -> Sample:
        """Return the sample of output without a figure: how it died, what it says, or it is alien.

        Args:
            algorithm: What was asked for.
            complaint: The program's own words of what is wrong, where some were recognised.
        """
        ended, note = by_status(self.status)
        if ended in (Ended.WELL, Ended.FAILED):
            ended, note = self._seen(complaint or note)
        return self.unmeasured(algorithm, ended, note)

    def _seen(self, note: str) -> tuple[Ended, str]:
        """Return what the text says of an end that the status does not tell."""
        if ILLEGAL.search(self.text):
            return Ended.ILLEGAL, "killed by an illegal instruction (SIGILL)"
        missing = missing_program(self.text)
        if missing or note:
            return Ended.FAILED, missing or note
        killed = KILLED.search(self.text)
        if killed:
            return Ended.KILLED, f"killed: {killed['word']}"
        if not self.text.strip():
            return Ended.FAILED, "it printed nothing"
        return Ended.INVALID, f"this is not what `{self.program}` prints"
