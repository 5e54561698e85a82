"""Where in a text of XML the children of its root begin and end, to the character.

What is written back to libvirt has to be its own text with one element exchanged; a parsed and
rewritten document would not be. The text must be well-formed: `unmask.dialects.libvirt.xml.parse`
has seen it before, and refuses document types.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

TOKEN = re.compile(
    r"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>|<[^!?](?:[^>\"']|\"[^\"]*\"|'[^']*')*+>", re.DOTALL
)
"""Comments, literal text, instructions, and tags, whose attributes may hold ">"."""
NAME = re.compile(r"</?([^\s/>]+)")


@dataclass(frozen=True, slots=True)
class Span:
    """One child of the root: `text[start:end]` is all of it."""

    name: str
    """As it is written, with its prefix."""
    start: int
    end: int


def children(text: str) -> tuple[Span, ...]:
    """Return the children of the root of a well-formed text, in order."""
    found: list[Span] = []
    depth, start = 0, 0
    for name, token in _tags(text):
        closes, empty = token.group().startswith("</"), token.group().endswith("/>")
        if not closes and depth == 1:
            start = token.start()
        depth += -1 if closes else 0 if empty else 1
        if depth == 1 and (closes or empty):
            found.append(Span(name, start, token.end()))
    return tuple(found)


def contents_end(text: str) -> int:
    """Return where the closing tag of the root begins; its end where the root is an empty tag."""
    return max(
        (tag.start() for _name, tag in _tags(text) if tag.group().startswith("</")),
        default=len(text),
    )


def _tags(text: str) -> Iterator[tuple[str, re.Match[str]]]:
    for token in TOKEN.finditer(text):
        name = NAME.match(token.group())
        if name and token.group()[1] not in "!?":
            yield name.group(1), token
