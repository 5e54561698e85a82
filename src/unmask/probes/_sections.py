"""Split what the script printed into sections, whatever a guest has made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from unmask.dialects import framed
from unmask.probes._probe import Probe
from unmask.probes._section import End, Section, printable

PART_LIMIT = 1000
"""Parts of one section that are kept."""
NAME_LIMIT = 300
"""Characters of a part's name."""


@dataclass(frozen=True, slots=True)
class Sections:
    """The output of one run."""

    found: Mapping[str, Section]
    """By name of the probe; only those that have begun."""
    user: int | None
    """The number of the user it ran as, 0 for root or an administrator; None if it never began."""
    whole: bool
    """It came to its end."""


@dataclass(slots=True)
class _Draft:
    """A section that is being read."""

    pieces: list[tuple[str, bytes]]
    size: int
    """Bytes that the command printed, the lines that begin its parts included."""
    unreadable: list[str] = field(default_factory=list)
    ending: str = ""


def split(output: bytes, mark: str, probes: Sequence[Probe]) -> Sections:
    """Return the sections of an output, in whatever state it arrived.

    Args:
        output: Standard output of the script. What precedes the first mark (a login's greeting) is
            passed over; of a section that appears twice the first counts.
        mark: The mark that the script was made with.
        probes: Those that the script was made from; other sections are ignored.
    """
    limits = {probe.name: probe.limit for probe in probes}
    drafts: dict[str, _Draft] = {}
    user: int | None = None
    whole = False
    current: _Draft | None = None
    for head, content in framed.parts(output, mark):
        name = head.rstrip("\r")
        if name.startswith((".", "= ")):
            if current:
                _add(current, name, content, len(mark))
            continue
        current = None
        if name == "user":
            user = _number(content) if user is None else user
        elif name == "end":
            whole = True
        elif name in limits and name not in drafts:
            current = drafts[name] = _Draft([("", content)], len(content))
    found = {name: _section(draft, limits[name]) for name, draft in drafts.items()}
    return Sections(MappingProxyType(found), user, whole)


def _number(content: bytes) -> int | None:
    text = content.strip()
    return int(text) if text.isdigit() and len(text) < 12 else None


def _add(draft: _Draft, name: str, content: bytes, mark: int) -> None:
    if draft.ending:
        return
    if name.startswith("= "):
        draft.ending = name.removeprefix("= ").strip()
        return
    draft.size += len(f"\n {name}\n".encode()) + mark + len(content)
    if name.startswith(".!"):
        draft.unreadable.append(printable(name[2 : NAME_LIMIT + 2]))
    elif len(draft.pieces) <= PART_LIMIT:
        draft.pieces.append((printable(name[1 : NAME_LIMIT + 1]), content))


def _section(draft: _Draft, limit: int) -> Section:
    truncated = draft.size > limit or len(draft.pieces) > PART_LIMIT
    if truncated:
        name, content = draft.pieces[-1]
        draft.pieces[-1] = (name, _lines(content, len(content)))
    parts: dict[str, bytes] = {}
    left = limit
    for name, content in draft.pieces:
        parts.setdefault(name, content if len(content) <= left else _lines(content, left))
        left = max(left - len(content), 0)
    end, status = _ending(draft.ending)
    return Section(
        content=parts.pop("", b""),
        parts=MappingProxyType(parts),
        end=end,
        status=status,
        truncated=truncated,
        unreadable=tuple(draft.unreadable[:PART_LIMIT]),
    )


def _lines(content: bytes, limit: int) -> bytes:
    """Return the whole lines within the first `limit` bytes: what follows is a stump."""
    return content[: content.rfind(b"\n", 0, limit) + 1]


def _ending(said: str) -> tuple[End, int | None]:
    if said in (End.LATE, End.SKIPPED, End.DENIED):
        return End(said), None
    if said.isdigit() and len(said) < 4:
        return End.DONE, int(said)
    return End.BROKEN, None
