"""`openssl s_time`: connections of a TLS server a second, with new sessions and with reused ones.

The rate is connections by the real seconds: those that it prints itself are by its own processor
time and say nothing of the server. Real seconds are whole ones, and one more than were asked for.
Format: apps/s_time.c.
"""

from __future__ import annotations

import re
from itertools import islice

from unmask.dialects.bench import _screen
from unmask.dialects.bench._output import SAMPLES, Output
from unmask.model.bench import PLAIN, Sample, Tool

REQUESTS = "requests"
REUSED = "requests-reused"
TRANSFER = "transfer"
SHORT = 5
"""Seconds below which whole seconds are too coarse for a rate."""

_RESULT = re.compile(
    r"^(?P<count>\d{1,12}) connections in (?P<seconds>\d{1,9}) real seconds"
    r"(?:, (?P<bytes>\d{1,12}) bytes read per connection)?",
    re.MULTILINE,
)
_REUSING = re.compile(r"^Now timing with session id reuse", re.MULTILINE)
_ERROR = re.compile(
    r"^(?:connect: [^\n]{1,120}|Unable to get connection|verify error:[^\n]{1,80}"
    r"|gethostbyname[^\n]{1,80}|[^\n]{0,40}[Uu]nknown option[^\n]{0,80})"
    r"|(?<=:)(?:Connection refused|No route to host|Connection timed out|Name or service not known)"
    r"|^[^\n]{0,60}:error:[^\n]{1,160}",
    re.MULTILINE,
)
_FAILED = re.compile(r"^ERROR$", re.MULTILINE)


def parse(
    text: str, setting: str = PLAIN, status: int | None = None, algorithm: str = REQUESTS
) -> tuple[Sample, ...]:
    """Return "requests", "requests-reused" and, where a page was read, "transfer".

    Args:
        text: Standard output and error output.
        setting: The setting of every sample.
        status: How it ended, see `_ending.by_status`; s_time ends with 1 in some versions although
            all went well.
        algorithm: What was asked for, where nothing was measured.
    """
    text = _screen.readable(text)
    reusing = _REUSING.search(text)
    output = Output(Tool.TLS, "openssl s_time", text, setting, status)
    samples: list[Sample] = []
    for match in islice(_RESULT.finditer(text), SAMPLES):
        reused = bool(reusing and match.start() > reusing.start())
        samples += _samples(match, REUSED if reused else REQUESTS, output)
    if samples:
        return tuple(samples)
    return (output.nothing(algorithm, _complaint(text)),)


def _complaint(text: str) -> str:
    """Return what the program says went wrong, shortest words first; "" for nothing."""
    found = [match[0] for match in _ERROR.finditer(text)] or _FAILED.findall(text)
    return min(found[:20], key=len, default="")


def _samples(match: re.Match[str], name: str, output: Output) -> list[Sample]:
    """Return the samples of one of the two tests."""
    count, seconds = int(match["count"]), int(match["seconds"])
    wrong = ""
    if seconds < SHORT:
        wrong = f"{seconds} s are too short for a program that counts whole seconds"
    if not count:
        wrong = "no connection came about"
    note = f"in whole seconds: up to {100 / seconds:.0f}% too low" if seconds else ""
    found = [(name, float(count))]
    size = int(match["bytes"] or 0)
    if size and name == REQUESTS:
        found.append((TRANSFER, float(count * size)))
    return [
        output.measured(
            algorithm,
            amount / seconds if seconds else 0.0,
            seconds=float(seconds),
            note=note,
            wrong=wrong,
        )
        for algorithm, amount in found
    ]
