"""What one probe's command printed, made safe to parse."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

LINE_LIMIT = 16 * 1024
"""Characters of a line that are looked at; the flags of a CPU take some 2,000."""

_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff0-\uffff\ue000-\uf8ff\U000e0000-\U0010ffff]"
)
"""Controls, bidirectional and invisible formats, private use: nothing that a fact is made of."""


class End(StrEnum):
    """How a section came to its end."""

    DONE = "done"
    LATE = "late"
    """It was ended because its time was over; what it had printed is there."""
    SKIPPED = "skipped"
    """The whole script's time was over before it began."""
    DENIED = "denied"
    """Only root may run it."""
    BROKEN = "broken"
    """The output stops in it: the script was ended, or the connection lost."""


def printable(text: str) -> str:
    r"""Return `text` with "?" for each character that is not printed, and line breaks as they are.

    "\r\n" becomes "\n"; tabs stay. Escape sequences lose their escape and so their effect.
    """
    return _UNSAFE.sub("?", text.replace("\r\n", "\n").removesuffix("\r"))


@dataclass(frozen=True, slots=True)
class Section:
    """The output of one probe: what it printed, and the named parts of that."""

    content: bytes = b""
    """What was printed before the first part."""
    parts: Mapping[str, bytes] = field(default_factory=lambda: MappingProxyType({}))
    """By name, in order; files have their path as name."""
    end: End = End.DONE
    status: int | None = None
    """The exit status of the command; None where it did not end by itself."""
    truncated: bool = False
    """It printed more than it may; the rest is lost."""
    unreadable: tuple[str, ...] = ()
    """Files that are there and that the user may not read."""

    def __contains__(self, part: str) -> bool:
        return part in self.parts

    def text(self, part: str | None = None) -> str:
        """Return the content, or that of a part; "" where there is no such part."""
        content = self.content if part is None else self.parts.get(part, b"")
        return printable(content.decode("utf-8", errors="replace"))

    def lines(self, part: str | None = None) -> list[str]:
        """Return the lines that are not blank, stripped at the right and cut at `LINE_LIMIT`."""
        lines = (line[:LINE_LIMIT].rstrip() for line in self.text(part).split("\n"))
        return [line for line in lines if line]

    def first(self, part: str | None = None) -> str:
        """Return the first line that is not blank, stripped; "" for none."""
        return next(iter(self.lines(part)), "").strip()

    def below(self, prefix: str) -> list[str]:
        """Return the names of the parts that begin with `prefix`, in order."""
        return [name for name in self.parts if name.startswith(prefix)]
