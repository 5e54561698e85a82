"""`unmask bench --read`: output of benchmarks that somebody has pasted, from files or the input."""

from __future__ import annotations

import sys
from pathlib import Path

from unmask.dialects.bench import pasted
from unmask.errors import UsageError
from unmask.model.bench import FORCED, MASKED, PLAIN, BenchResult

LIMIT = 4 * 1024 * 1024
"""Bytes of one file that are looked at."""
INPUT = "-"
"""Means standard input."""


def wanted(
    read_from: Path | None, masked: Path | None, forced: Path | None, compare_with: Path | None
) -> bool:
    """Return whether output is to be read instead of measuring.

    Raises:
        UsageError: Its options were given without `--read`.
    """
    if read_from is None and (masked or forced or compare_with):
        raise UsageError("--masked, --forced and --compare-with belong to --read FILE")
    return read_from is not None


def read(
    read_from: Path | None, masked: Path | None, forced: Path | None, compare_with: Path | None
) -> tuple[tuple[BenchResult, ...], tuple[BenchResult, ...]]:
    """Return what was pasted, and what it is compared with, each as results.

    Raises:
        UsageError: A file cannot be read.
    """
    given = {PLAIN: read_from, MASKED: masked, FORCED: forced}
    outputs = {setting: _text(path) for setting, path in given.items() if path}
    now = pasted.result(_name(read_from), outputs)
    if compare_with is None:
        return (now,), ()
    before = pasted.result(_name(compare_with), {PLAIN: _text(compare_with)})
    return (now,), (before,)


def _name(path: Path | None) -> str:
    return "standard input" if str(path) == INPUT else str(path)


def _text(path: Path) -> str:
    """Return what a file holds; terminals and web pages leave bytes that are not UTF-8.

    Raises:
        UsageError: It cannot be read, or is too long.
    """
    try:
        if str(path) == INPUT:
            data = sys.stdin.buffer.read(LIMIT + 1) if sys.stdin else b""
        else:
            with path.open("rb") as stream:
                data = stream.read(LIMIT + 1)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    if len(data) > LIMIT:
        raise UsageError(f"{_name(path)}: larger than {LIMIT} bytes")
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    return data.decode(encoding, errors="replace")
