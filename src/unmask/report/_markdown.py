"""Text from outside in GitHub-flavoured Markdown: shown as it is, and obeyed in nothing.

Escaping is not enough on GitHub, which looks for @mentions, issue numbers, addresses, formulas and
:emoji: in what a page has become. Only code is left alone: words that hold anything of that kind
are shown as code. Sources: the GFM specification (github.github.com/gfm), GitHub's "Basic writing
and formatting syntax" and "Autolinked references and URLs".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from unmask.report._text import LIMIT, clean

_OBEYED = re.compile(
    r"""
    @ | \# | \$ | ` | :// | (?<![A-Za-z0-9/.])www\. | \bGH-[0-9]
    | :[0-9_+-]*[A-Za-z][A-Za-z0-9_+-]*:
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""What makes GitHub do something with a word, backslash or not."""
_ACTIVE = re.compile(r"[\\*\[\]<>&~]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_BLOCK = re.compile(r"[-+=]+(?=\s|$)|(?<=[0-9])[.)](?=\s|$)")
_NUMBER = re.compile(r"[0-9]{1,9}(?=[.)](?:\s|$))")
"""What makes a list, a heading or a line across the page where a block begins with it."""
BAR = "\u00a6"
"""Stands for "|" in code in a table: tables are parted before code is looked for, and parsers do
not agree on how it is to be escaped there."""


def escape(text: str, limit: int = LIMIT) -> str:
    """Return text from outside as one line that is text; "" where nothing is left of it."""
    made = cell(text, limit)
    number = _NUMBER.match(made)
    found = _BLOCK.match(made, number.end() if number else 0)
    return f"{made[: found.start()]}\\{made[found.start() :]}" if found else made


def cell(text: str, limit: int = LIMIT) -> str:
    """Return text from outside for a cell of a table, or the middle of a line."""
    return " ".join(_word(word) for word in clean(text, limit).split(" "))


def _word(word: str) -> str:
    if _OBEYED.search(word):
        return code(word).replace("|", BAR)
    return _ACTIVE.sub(lambda found: f"\\{found.group()}", word).replace("|", "&#124;")


def code(text: str, limit: int = LIMIT) -> str:
    """Return text from outside as code; "" where nothing is left of it."""
    shown = clean(text, limit)
    if not shown:
        return ""
    longest = max((len(run) for run in re.findall("`+", shown)), default=0)
    fence = "`" * (longest + 1)
    room = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{room}{shown}{room}{fence}"


def code_cell(text: str, limit: int = LIMIT) -> str:
    """Return text from outside as code in a table."""
    return code(text, limit).replace("|", BAR)


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table of cells that are Markdown already."""
    yield _row(headings)
    yield _row(["---"] * len(headings))
    for row in rows:
        yield _row(row)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def folded(summary: str, lines: Iterable[str]) -> Iterator[str]:
    """Yield lines that a reader opens by clicking on `summary`, which is ours."""
    yield f"<details><summary>{summary}</summary>"
    yield ""
    yield from lines
    yield ""
    yield "</details>"
