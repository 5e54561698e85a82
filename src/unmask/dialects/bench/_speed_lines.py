"""The lines of `openssl speed`: what was begun, what was counted, and the table.

They are found wherever they stand, since people paste terminals, pages join lines, and kernels
print between them. Formats: apps/speed.c of OpenSSL 0.9.8, 1.0.2, 1.1.1, 3.0, 3.5 and of LibreSSL
(print_message, print_result, speed_main; 3.2 and later say "ops" where older ones say "'s").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

NAME = r"[A-Za-z][\w()/.,+-]{0,60}(?: [a-z0-9]{2,12})?"
"""An algorithm: "AES-128-GCM", "aes-128 cbc", "rc5-32/12 cbc", "hmac(md5)"."""
_NUMBER = r"-?(?:\d{1,18}(?:\.\d{1,9})?|inf|nan|1\.#\w{1,4})"

BEGUN = re.compile(
    rf"Doing (?P<name>{NAME}?) (?:ops )?(?:for (?P<asked>\d{{1,6}})s|\d{{1,12}} times)"
    r" on (?P<block>\d{1,9}) size blocks:"
    rf"|^\+D[TN]:(?P<mr_name>{NAME}):(?P<mr_asked>\d{{1,12}}):(?P<mr_block>\d{{1,9}})$",
    re.MULTILINE,
)
_DONE = re.compile(
    rf"(?<!\d)(?P<count>-?\d{{1,18}}) (?P<name>{NAME})(?:'s| ops) in (?P<seconds>{_NUMBER})s"
    rf"|^\+R:(?P<mr_count>-?\d{{1,18}}):(?P<mr_name>{NAME}):(?P<mr_seconds>{_NUMBER})$",
    re.MULTILINE,
)
HEADING = re.compile(
    r"\btype(?P<blocks>(?:\s+\d{1,9} bytes){1,16})|^\+H(?P<mr_blocks>(?::\d{1,9}){1,16})$",
    re.MULTILINE,
)
_CHILD_HEADING = re.compile(r"^Got: \+H(?P<blocks>(?::\d{1,9}){1,16}) from \d+$", re.MULTILINE)
_VALUE = r"-?(?:\d{1,15}\.\d\d(?![\d.])|inf|nan|1\.#\w{1,4})k?(?![\w.])"
_ROW = re.compile(
    rf"[ ]*(?P<name>{NAME})[ ]+(?P<values>{_VALUE}(?:\s+{_VALUE}){{0,15}})"
    r"(?:[ ]*\((?P<remark>[^()\n]{1,60})\))?\s*"
)
_MR_ROW = re.compile(
    rf"^\+F:\d{{1,4}}:(?P<name>{NAME})(?P<values>(?::{_NUMBER}){{1,16}})$", re.MULTILINE
)
_TIME = frozenset({"real", "user", "sys"})
"""What `time -p` prints below the table in the form of a row."""
_DEFAULT_BLOCKS = {5: (16, 64, 256, 1024, 8192), 6: (16, 64, 256, 1024, 8192, 16384)}
"""By number of columns, before 1.1.0 and since: for rows that were pasted without their heading."""
LINES = 500
"""Counts, and rows, of one run that are read; `openssl speed` without arguments prints 200."""
_PLAIN_LIMIT = 10000.0
"""Bytes a second up to which the table prints no "k"."""


@dataclass(frozen=True, slots=True)
class Timed:
    """One block size of one algorithm, as it was counted."""

    name: str
    block: int
    asked: float | None
    """Seconds that it was to take; None where it was told a number of calls instead."""
    count: int | None = None
    """Calls; None where it never came to an end."""
    seconds: float | None = None
    """That the program says they took."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table: bytes a second by block size, as far as they are printed whole."""

    name: str
    rates: tuple[tuple[int, float], ...]
    remark: str = ""
    """In parentheses behind it: the kind of core, in collections of other programs."""
    assumed: bool = False
    """The table's heading is missing, and its blocks are the default ones of that many columns."""


def timed(text: str) -> tuple[Timed, ...]:
    """Return what was begun, in order, each with its count where one follows."""
    begun: list[Timed] = []
    waiting: dict[str, int] = {}
    marks = sorted(
        [(match.start(), 0, match) for match in islice(BEGUN.finditer(text), LINES)]
        + [(match.start(), 1, match) for match in islice(_DONE.finditer(text), LINES)],
        key=lambda mark: mark[:2],
    )
    for _, done, match in marks:
        name = (match["name"] or match["mr_name"]).lower()
        if not done:
            waiting[name] = len(begun)
            begun.append(_begin(match))
        elif name in waiting:
            index = waiting.pop(name)
            begun[index] = _end(begun[index], match)
    return tuple(begun)


def _begin(match: re.Match[str]) -> Timed:
    asked = match["asked"] or (match["mr_asked"] if match[0].startswith("+DT") else None)
    return Timed(
        name=match["name"] or match["mr_name"],
        block=int(match["block"] or match["mr_block"]),
        asked=float(asked) if asked else None,
    )


def _end(begun: Timed, match: re.Match[str]) -> Timed:
    count = int(match["count"] or match["mr_count"])
    seconds = number(match["seconds"] or match["mr_seconds"])
    return Timed(begun.name, begun.block, begun.asked, count, seconds)


def number(text: str) -> float:
    """Return the number that a C library printed; NaN for the forms of "not a number"."""
    text = text.rstrip("k").lower()
    if "#" in text:  # Microsoft's: 1.#INF, 1.#IND, 1.#QNAN
        return float("-inf" if text.startswith("-") else "inf") if "inf" in text else float("nan")
    return float(text)


def rows(text: str) -> tuple[Row, ...]:
    """Return the rows of every table in `text`, in order."""
    headings = list(islice(HEADING.finditer(text), LINES))
    if not headings:
        return tuple(islice(_rows_without_heading(text), LINES))
    found: list[Row] = []
    ends = [*(match.start() for match in headings[1:]), len(text)]
    for heading, end in zip(headings, ends, strict=True):
        region = text[heading.end() : end]
        if heading["mr_blocks"]:
            found += islice(_mr_rows(region, _sizes(heading["mr_blocks"])), LINES)
        else:
            found += islice(_table(region, _sizes(heading["blocks"])), LINES)
    return tuple(found[:LINES])


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(int(size) for size in re.findall(r"\d+", text))


def _rows_without_heading(text: str) -> Iterator[Row]:
    """Yield rows of `-multi`, whose heading is its children's, and rows pasted without one.

    `-multi` prints no heading of its own where every algorithm was given by -evp (1.1.1, 3.0).
    """
    children = list(_CHILD_HEADING.finditer(text))
    if children:
        sizes = _sizes(children[-1]["blocks"])
        region = text[children[-1].end() :]
        yield from _mr_rows(region, sizes)
        yield from _table(region, sizes)
    else:
        yield from _table(text, ())


def _mr_rows(text: str, sizes: tuple[int, ...]) -> Iterator[Row]:
    """Yield `+F` lines, which are in bytes a second."""
    for match in _MR_ROW.finditer(text):
        values = [number(value) for value in match["values"][1:].split(":")]
        yield Row(match["name"], tuple(zip(sizes, values, strict=False)))


def _table(text: str, sizes: tuple[int, ...]) -> Iterator[Row]:
    """Yield the rows of a table, whose lines may be joined, and other lines between them.

    With no `sizes`, only rows that have as many columns as a whole table has by default.
    """
    position = 0
    while position < len(text):
        match = _ROW.match(text, position)
        row = _row(match, sizes) if match else None
        if row:
            yield row
        if match:
            position = match.end()
            continue
        following = text.find("\n", position)
        position = len(text) if following < 0 else following + 1


def _row(match: re.Match[str], sizes: tuple[int, ...]) -> Row | None:
    words = match["values"].split()
    assumed = not sizes
    if assumed:
        sizes = _DEFAULT_BLOCKS.get(len(words), ())
    if match["name"].lower() in _TIME or len(words) > len(sizes):
        return None
    values = [number(word) * (1000 if word.endswith("k") else 1) for word in words]
    if not words[-1].endswith("k") and values[-1] > _PLAIN_LIMIT:
        values.pop()  # its "k" is cut off
    return Row(
        match["name"],
        tuple(zip(sizes, values, strict=False)),
        match["remark"] or "",
        assumed,
    )
