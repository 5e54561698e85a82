"""`fio`: its JSON and its text, of 2.x and 3.x.

Jobs of one group ran at once and their rates are added up; groups (`stonewall`) are samples of
their own. Formats: fio's stat.c, show_group_stats and add_ddir_status_json. Version 2 has only
"bw", in KiB/s, and its text says "KB/s" for the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from unmask.dialects.bench import _screen
from unmask.dialects.bench._document import below, document, figure, items
from unmask.dialects.bench._output import SAMPLES, Output
from unmask.dialects.bench._quantity import NUMBER, scaled
from unmask.model.bench import PLAIN, Sample, Tool

SHORTEST = 0.05
"""Seconds: fio counts milliseconds, and less than this was a cache's doing."""

_TEXT = re.compile(
    rf"^ *(?P<way>READ|WRITE): (?:bw=(?P<rate>{NUMBER}[KMGT]?i?B/s)[^\n]{{0,300}}"
    rf"|io=[^,\n]{{1,30}}, aggrb=(?P<old>{NUMBER}[KMGT]?B/s)[^\n]{{0,300}})$",
    re.MULTILINE,
)
_RUNTIME = re.compile(r"(?:run=\d{1,12}-|maxt=)(?P<ms>\d{1,12}) ?msec")
_BLOCK = re.compile(
    r"bs=(?:\(R\) )?(?P<block>\d{1,9}[KMGkmg]?i?)B?\b[^\n]{0,120}ioengine=", re.MULTILINE
)
_ERROR = re.compile(
    r"^fio: [^\n]{0,200}\berror=(?P<words>[^\n]{1,120})$|^fio: (?P<other>[^\n]{1,200})$",
    re.MULTILINE,
)
_PARTIAL = re.compile(r"\berr= ?(?P<number>[1-9]\d{0,3})\b")


@dataclass(frozen=True, slots=True)
class _Part:
    """What all jobs of a group read, or wrote."""

    way: str
    rate: float
    seconds: float | None
    block: int | None
    wrong: str = ""


def parse(
    text: str,
    setting: str = PLAIN,
    status: int | None = None,
    algorithm: str = "write",
    tool: Tool = Tool.FILE,
) -> tuple[Sample, ...]:
    """Return a sample, "read" or "write", for each direction of each group; never none at all.

    Args:
        text: Standard output and error output; JSON is taken where there is some.
        setting: The setting of every sample.
        status: How it ended, see `_ending.by_status`.
        algorithm: What was asked for, where nothing was measured.
        tool: Where the file was: FILE, or ZFS on an encrypted dataset.
    """
    text = _screen.readable(text)
    output = Output(tool, "fio", text, setting, status)
    parts = (list(_from_json(text)) or list(_from_text(text)))[:SAMPLES]
    if not parts:
        error = _ERROR.search(text)
        complaint = (error["words"] or error["other"]) if error else ""
        return (output.nothing(algorithm, complaint),)
    return tuple(
        output.measured(
            part.way,
            part.rate,
            block=part.block,
            seconds=part.seconds,
            wrong=part.wrong or _short(part.seconds),
        )
        for part in parts
    )


def _short(seconds: float | None) -> str:
    if seconds is None or seconds >= SHORTEST:
        return ""
    return f"{seconds:g} s are too short for a rate"


def _from_json(text: str) -> Iterator[_Part]:
    """Yield what the JSON document holds; nothing where there is none."""
    root = document(text)
    groups: dict[object, list[object]] = {}
    for job in items(below(root, "jobs")):
        groups.setdefault(str(below(job, "groupid")), []).append(job)
    shared = below(root, "global options", "bs")
    for jobs in groups.values():
        for way in ("read", "write"):
            part = _sum(jobs, way, shared)
            if part:
                yield part


def _sum(jobs: list[object], way: str, shared: object) -> _Part | None:
    """Return what the jobs of a group did one way; None where they did nothing of it."""
    busy = [job for job in jobs if figure(below(job, way, "io_bytes")) or _rate(job, way)]
    failed = next((job for job in jobs if figure(below(job, "error"))), None)
    if not busy:
        asked = str(below(jobs[0], "job options", "rw"))
        if failed is None or way not in asked.replace("rw", "write"):
            return None
    times = [figure(below(job, way, "runtime")) or 0.0 for job in busy]
    wrong = f"fio ended with error {below(failed, 'error')}" if failed is not None else ""
    return _Part(
        way=way,
        rate=sum(_rate(job, way) for job in busy),
        seconds=max(times, default=0.0) / 1000 or None,
        block=_block(below(jobs[0], "job options", "bs") or shared),
        wrong=_screen.sentence(wrong),
    )


def _rate(job: object, way: str) -> float:
    """Return bytes a second of one job: "bw_bytes", before 3.0 "bw" in KiB/s."""
    rate = figure(below(job, way, "bw_bytes"))
    return rate if rate is not None else 1024 * (figure(below(job, way, "bw")) or 0.0)


def _block(value: object) -> int | None:
    """Return the bytes of "128k", which are powers of 1024 in fio; None where none are told."""
    try:
        return int(scaled(str(value)[:20], binary=True))
    except ValueError:
        return None


def _from_text(text: str) -> Iterator[_Part]:
    """Yield the lines below "Run status group"."""
    block = _BLOCK.search(text)
    error = _PARTIAL.search(text)
    for match in _TEXT.finditer(text):
        runtime = _RUNTIME.search(match[0])
        yield _Part(
            way=match["way"].lower(),
            rate=scaled(match["rate"]) if match["rate"] else scaled(match["old"], binary=True),
            seconds=int(runtime["ms"]) / 1000 if runtime else None,
            block=_block(block["block"]) if block else None,
            wrong=f"fio ended with error {error['number']}" if error else "",
        )
