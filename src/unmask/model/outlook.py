"""What to expect of encryption software on a CPU as a guest sees it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from unmask.model.finding import Confidence


class Status(StrEnum):
    """On what a piece of encryption software runs."""

    HARDWARE = "hardware"
    """It takes its fast path: instructions made for the cipher, or wide vector code."""
    PARTIAL = "partial"
    """Instructions do part of the work, and the rest makes it slow."""
    SOFTWARE = "software"
    """No instruction helps, or what helps does not show in the speed, or it is not available."""
    UNKNOWN = "unknown"
    """Flags, the version or the architecture leave it open."""
    NOT_APPLICABLE = "not-applicable"
    """No CPU flag that a model could hide plays a part."""


class NoteKind(StrEnum):
    """What a note is about."""

    UNASKED = "unasked"
    """It executes instructions whose flag it does not look at."""
    FATAL = "fatal"
    """It crashes or hangs on this CPU."""
    EMULATED = "emulated"
    """No instruction of the guest reaches the silicon."""
    IRRELEVANT = "irrelevant"
    """The AES flags play no part."""
    CHOICE = "choice"
    """It goes over to another cipher by itself."""
    FASTER = "faster"
    """Another cipher would be faster on this CPU, and nothing chooses it by itself."""
    UNUSED = "unused"
    """A flag is shown and not used."""
    UNDECIDED = "undecided"
    """What the answer depends on."""
    SUSPECTED = "suspected"
    """Read in source and not seen on a machine."""


@dataclass(frozen=True, slots=True)
class Note:
    """One thing to know beside the status; `text` is a full sentence for people."""

    kind: NoteKind
    text: str
    confidence: Confidence = Confidence.FIRM

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Outlook:
    """How one consumer fares with one cipher on one CPU."""

    consumer: str
    """Its identity in `crypto/data/consumers.json`: "openssl", "openzfs"."""
    cipher: str
    """The family of ciphers that was judged: "gcm", "xts"; "" where none could be told."""
    status: Status
    how: str
    """What it runs on, as the end of "runs on ..." or as a reason; no full stop."""
    missing: tuple[str, ...] = ()
    """Flags that are surely hidden and keep it from its fast path."""
    factor: float | None = None
    """The speed kept, 0 to 1, against the same CPU with `missing` shown; 1.0 on the fast path."""
    of_best: float | None = None
    """The same against all flags of the silicon that it was measured on."""
    factor_origin: str = ""
    """Release, silicon and figures behind the factors; "" where nothing was measured."""
    better: tuple[str, ...] = ()
    """Flags not surely shown that the next faster code needs, where it is on its fast path."""
    notes: tuple[Note, ...] = ()
    measured_here: bool = False
    """`factor` was measured on the guest's own node, against all that its silicon has."""

    def left_open(self, how: str, notes: tuple[Note, ...]) -> Outlook:
        """Return the same with nothing decided, and without the figures that would follow."""
        return replace(
            self,
            status=Status.UNKNOWN,
            how=how,
            factor=None,
            of_best=None,
            factor_origin="",
            better=(),
            notes=notes,
        )

    def noted(self, kind: NoteKind) -> tuple[Note, ...]:
        """Return the notes of one kind."""
        return tuple(note for note in self.notes if note.kind is kind)
