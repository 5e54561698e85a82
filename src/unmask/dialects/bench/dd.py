"""`dd`: GNU's, busybox's, toybox's, and those of the BSDs and macOS.

The rate is computed from the bytes and the seconds, since the printed one is rounded and its unit
differs: GNU prints powers of 1000 as "MB/s", busybox powers of 1024.
"""

from __future__ import annotations

import re
from bisect import bisect_left

from unmask.dialects.bench import _screen
from unmask.dialects.bench._output import SAMPLES, Output
from unmask.dialects.bench._quantity import NUMBER, decimal
from unmask.model.bench import PLAIN, Sample, Tool

SHORTEST = 0.01
"""Seconds below which nothing but a cache was measured."""

_SUMMARY = re.compile(
    r"^(?P<bytes>\d{1,18}) (?:bytes?|Bytes?|octets?|byte) ?[^\n]{0,60}?"
    rf"(?:,| in) (?P<seconds>{NUMBER}(?:e-?\d{{1,3}})?) (?:s\b|sec)[^\n]{{0,60}}$",
    re.MULTILINE | re.IGNORECASE,
)
"""GNU "... bytes (17 MB, 16 MiB) copied, 0.95 s, 17.6 MB/s" (other languages: 0,95), busybox
"... bytes (16.0MB) copied, 0.95 seconds, 17.6MB/s", BSD "... bytes transferred in 0.95 secs (...)".
"""
_RECORDS = re.compile(r"^(?P<whole>\d{1,18})\+(?P<part>\d{1,18}) [^\n]{2,60}$", re.MULTILINE)
_COMPLAINT = re.compile(r"^(?:[\w/-]{0,40}/)?dd: [^\n]{1,200}$", re.MULTILINE)
_FATAL = re.compile(
    r"No space left|Input/output error|error (?:writing|reading)|failed to open|can't open"
    r"|Permission denied|Read-only|Disk quota|Invalid argument|No such file|not supported",
    re.IGNORECASE,
)


def parse(
    text: str,
    setting: str = PLAIN,
    status: int | None = None,
    algorithm: str = "write",
    tool: Tool = Tool.FILE,
) -> tuple[Sample, ...]:
    """Return a sample for each run of dd in `text`; never none at all.

    Args:
        text: What it printed, which is all error output; progress lines are passed over.
        setting: The setting of every sample.
        status: How the last one ended, see `_ending.by_status`.
        algorithm: "read" or "write": dd does not tell.
        tool: Where the file was: FILE, or ZFS on an encrypted dataset.
    """
    text = _screen.readable(text)
    output = Output(tool, "dd", text, setting, status)
    wrong = _fatal(text)
    found = _runs(text)
    if not found or status not in (None, 0):
        complaint = wrong or ("" if found else _silent(text))
        return (output.nothing(algorithm, complaint),)
    return tuple(
        output.measured(
            algorithm,
            count / seconds if seconds else float("inf"),
            seconds=seconds,
            wrong=wrong or _doubt(count, seconds),
        )
        for count, seconds in found
    )


def _doubt(count: int, seconds: float) -> str:
    """Return why bytes and seconds make no rate; "" where they do."""
    if not count:
        return "no byte was copied"
    return "" if seconds >= SHORTEST else f"{seconds:g} s are too short for a rate"


def _silent(text: str) -> str:
    """Return that this dd counts records only, as Debian's busybox does; "" where it does not."""
    return "this dd prints no time" if _RECORDS.search(text) else ""


def _fatal(text: str) -> str:
    """Return the first complaint that means that not everything was copied; "" for none."""
    for match in _COMPLAINT.finditer(text):
        if _FATAL.search(match[0]):
            return match[0]
    return ""


def _runs(text: str) -> list[tuple[int, float]]:
    """Return bytes and seconds of each run: of the first summary behind its count of records.

    Progress (`status=progress`) has the form of a summary and stands before them; without any
    records only the last line can be a summary.
    """
    records = [match.start() for match in _RECORDS.finditer(text)]
    summaries = [
        (match.start(), (int(match["bytes"]), _seconds(match["seconds"])))
        for match in _SUMMARY.finditer(text)
    ]
    if not records:
        return [value for _, value in summaries[-1:]]
    found: list[tuple[int, float]] = []
    last = -1
    for start, value in summaries[:SAMPLES]:
        counted = bisect_left(records, start)
        if counted > max(last, 0):
            found.append(value)
            last = counted
    return found


def _seconds(text: str) -> float:
    mantissa, _, exponent = text.lower().partition("e")
    return decimal(mantissa) * 10.0 ** (int(exponent) if exponent else 0)
