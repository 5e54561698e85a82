"""Output of which nobody has said what printed it: whose it is, and its samples."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

from unmask.dialects.bench import (
    _screen,
    apache_bench,
    cryptsetup_benchmark,
    dd,
    fio,
    iperf3,
    openssl_speed,
    openssl_version,
    s_time,
)
from unmask.model.bench import PLAIN, BenchResult, Ended, Environment, Sample, Tool
from unmask.model.reading import Known, Missing

METHOD = "pasted"
UNKNOWN = (
    "this is not the output of a benchmark that unmask reads: openssl speed, cryptsetup benchmark, "
    "ab, openssl s_time, fio, dd, iperf3"
)


class _Parse(Protocol):
    def __call__(
        self, text: str, setting: str = PLAIN, status: int | None = None
    ) -> tuple[Sample, ...]:
        """As in every module of this package."""


_MARKS: tuple[tuple[re.Pattern[str], _Parse], ...] = (
    (
        re.compile(
            r"\bDoing \S.{0,80} size blocks:|^\+(?:DT|R|F|H):|\btype\s+\d+ bytes"
            r"|openssl(?:\.exe)? speed\b|are in 1000s of bytes per second|^speed: ",
            re.MULTILINE,
        ),
        openssl_speed.parse,
    ),
    (re.compile(r"\b\d{1,12} connections in \d{1,9} real|openssl s_time\b"), s_time.parse),
    (
        re.compile(
            r"^# *Algorithm +\| |^PBKDF2-\w+ |cryptsetup[ -]benchmark"
            r"|\b\d{2,4} ?b +[\d.,]{1,20} [KMGT]i?B/s|kernel crypto interface not available",
            re.MULTILINE,
        ),
        cryptsetup_benchmark.parse,
    ),
    (re.compile(r"^Requests per second:|This is ApacheBench", re.MULTILINE), apache_bench.parse),
    (re.compile(r'"fio version"|^fio-\d|^ *(?:READ|WRITE): ', re.MULTILINE), fio.parse),
    (
        re.compile(
            r"^iperf Done|\bsec +[\d.,]{1,20} [KMGT]?Bytes +[\d.,]{1,20} [KMGT]?bits/sec"
            r"|\"sum_received\"|^iperf3: |^Connecting to host .{1,80}, port \d",
            re.MULTILINE,
        ),
        iperf3.parse,
    ),
    (
        re.compile(
            r"^\d{1,18}\+\d{1,18} |^\d{1,18} bytes .{0,60}(?:, | in )[\d.,]{1,20} s|^dd: ",
            re.MULTILINE,
        ),
        dd.parse,
    ),
    (
        re.compile(r"\d\.\d\dk[ \n]|\bIllegal instruction|openssl", re.MULTILINE),
        openssl_speed.parse,
    ),
)
"""What only one program prints, the most telling first."""


_TABLE = re.compile(r"^# *Algorithm +\|", re.MULTILINE)
"""The heading of the table that `cryptsetup benchmark` prints."""


def parser(text: str) -> Callable[..., tuple[Sample, ...]] | None:
    """Return the `parse` of the program that printed readable `text`; None where none has."""
    return next((parse for mark, parse in _MARKS if mark.search(text)), None)


def parse(text: str, setting: str = PLAIN, status: int | None = None) -> tuple[Sample, ...]:
    """Return the samples of output of any of these programs; never none at all."""
    text = _screen.readable(text)
    found = parser(text)
    if found is openssl_speed.parse and _TABLE.search(text):
        # One session with both: each reads its own lines and leaves the others.
        kernel = cryptsetup_benchmark.parse(text, setting)
        return (*found(text, setting, status), *kernel)
    if found:
        return found(text, setting, status)
    note = UNKNOWN if text.strip() else "there is nothing in it"
    return (Sample(Tool.OPENSSL, "", setting, Ended.INVALID, note=note, raw=_screen.quoted(text)),)


def result(subject: str, outputs: dict[str, str]) -> BenchResult:
    """Return what was pasted as one result.

    Args:
        subject: What to call it: a file's name.
        outputs: By setting, what was printed under it.
    """
    samples = tuple(sample for setting, text in outputs.items() for sample in parse(text, setting))
    version = openssl_version.version("\n".join(text[: _screen.LIMIT] for text in outputs.values()))
    openssl = Known(version) if version.version else Missing("the output does not name its version")
    return BenchResult(
        subject=subject,
        method=METHOD,
        way="file",
        environment=Environment(openssl=openssl),
        samples=samples,
        problems=tuple(_problem(sample) for sample in samples if sample.ended is Ended.INVALID),
    )


def _problem(sample: Sample) -> str:
    name = sample.algorithm or "the output"
    return f"{name} ({sample.setting}): {sample.note}"
