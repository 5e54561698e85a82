"""Text from outside made safe for a terminal, and fitted to its width.

Names and descriptions come from guests and configurations. A terminal obeys what it prints: escape
sequences move the cursor, set the title or fill the clipboard, and bidirectional controls reorder
what is read. None of that leaves this module.
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Sequence

LIMIT = 2000
"""Characters of one text that are printed unless the caller says less."""
FILL = "\0"
"""Stands for the second column of a letter, while a text is fitted; cleaned text has none."""
LISTED = 12
"""Items that are named one by one; a report that names all is the JSON one."""

_SEQUENCE = re.compile(
    r"""
    (?: \x1b\[ | \x9b ) [0-?]* [ -/]* [@-~]?                    # CSI: colours, cursor
    | (?: \x1b[\]PX^_] | [\x9d\x90\x98\x9e\x9f] )               # OSC, DCS, SOS, PM, APC: strings
      [^\x07\x1b\x9c]* (?: \x07 | \x1b\\ | \x9c )?
    | \x1b [ -/]* [0-~]?                                        # every other escape sequence
    """,
    re.VERBOSE,
)
_JOINT = re.compile(r"[,;:/=&|](?!$)")
"""Where a long word may be parted, after it."""
_LONG = 60
"""Characters of a word that is not begun on a line where something else stands already."""
_UNDECODED = re.compile("[\ud800-\udfff]")
"""What Python makes of bytes that are not UTF-8: shown as "?", so that a name keeps its length."""
_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories that are not printed: controls, formats (bidi, zero width), surrogates ..."""


def clean(text: str, limit: int = LIMIT) -> str:
    """Return `text` as one printable line of at most `limit` characters.

    Escape sequences go whole, other unprintable characters one by one; white space of any kind
    becomes one space, and what could not be decoded a "?". A shortened text ends in "...".
    """
    text = text[: 4 * limit + 400]  # bounds the work; what is cut here is cut below anyway
    if not (text.isascii() and text.isprintable()):
        text = _SEQUENCE.sub("", text)
        text = "".join(" " if char in "\t\r\n\v\f" else char for char in text)
        text = _UNDECODED.sub("?", text)
        text = "".join(char for char in text if unicodedata.category(char) not in _UNSAFE)
    return shorten(" ".join(text.split()), limit)


def shorten(text: str, limit: int) -> str:
    """Return `text`, or its beginning and "..." where it is longer than `limit` (at least 4)."""
    return text if len(text) <= limit else text[: limit - 3].rstrip() + "..."


def called(subject: str, name: str) -> str:
    """Return a subject, cleaned, and behind it its name where it does not end in that."""
    subject, name = clean(subject, 120), clean(name, 60)
    before = subject.removesuffix(name)
    same = not name or (before != subject and before[-1:] in ("", "/", ":"))
    return subject if same else f"{subject} {name}"


def filled(text: str) -> str:
    """Return cleaned text with a `FILL` behind each letter that takes two columns of a terminal.

    So its length is its width, for whoever counts characters. East Asian letters and emoji are such
    (Unicode Standard Annex 11); of a letter's accents nothing is known here.
    """
    if text.isascii():
        return text
    return "".join(
        f"{char}{FILL}" if unicodedata.east_asian_width(char) in "WF" else char for char in text
    )


def reasoned(reason: str, needs: str) -> str:
    """Return why something is not known, and what would tell: "no login (needs Sys.Audit)"."""
    return f"{clean(reason)} (needs {clean(needs)})" if needs else clean(reason)


def listed(items: Sequence[str], most: int = LISTED) -> str:
    """Return "a, b, c", with no more than `most` items named and the rest counted."""
    more = len(items) - most
    return ", ".join(items[:most]) + (f" and {more} more" if more > 0 else "")


def wrap(text: str, width: int, first: str = "", rest: str | None = None) -> list[str]:
    """Return the cleaned text as lines of at most `width` columns (0: one line).

    `first` begins the first line and `rest` (by default as many spaces) all others.
    """
    rest = " " * len(first) if rest is None else rest
    if not width:
        return [(first + clean(text)).rstrip()]
    wrapper = _Wrapper(max(width, 20), initial_indent=filled(first), subsequent_indent=filled(rest))
    wrapper.break_on_hyphens = False
    lines = wrapper.wrap(filled(clean(text)))
    return [line.replace(FILL, "") for line in lines] or [first.rstrip()]


class _Wrapper(textwrap.TextWrapper):
    """Breaks what is longer than a line (a fingerprint, a path, a -cpu) where it has joints."""

    def _handle_long_word(
        self, reversed_chunks: list[str], cur_line: list[str], cur_len: int, width: int
    ) -> None:
        word, room = reversed_chunks[-1], width - cur_len
        if cur_line and len(word) <= _LONG:
            return  # it is begun on a line of its own
        joints = [found.end() for found in _JOINT.finditer(word, 0, max(room, 1))]
        if not joints:
            super()._handle_long_word(reversed_chunks, cur_line, cur_len, width)
            return
        cur_line.append(word[: joints[-1]])
        reversed_chunks[-1] = word[joints[-1] :]
