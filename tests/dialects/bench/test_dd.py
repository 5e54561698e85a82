"""`dd` of several systems."""

import pytest

from unmask.dialects.bench import dd
from unmask.model.bench import Ended, Tool

RECORDS = "16+0 records in\n16+0 records out\n"
DONE = f"{RECORDS}16777216 bytes copied, 2 s, 8 MB/s\n"
FULL = "dd: error writing '/t': No space left on device\n"


@pytest.mark.parametrize(
    "line",
    [
        "16777216 bytes (17 MB, 16 MiB) copied, 0.5 s, 33.6 MB/s",
        "16777216 bytes (17 MB) copied, 0.5 s, 33.6 MB/s",
        "16777216 bytes (16.0MB) copied, 0.500000 seconds, 32.0MB/s",
        "16777216 bytes (16.0MiB) copied, 0.500000 seconds, 32.0MiB/s",
        "16777216 bytes (16 M) copied, 0.500 s, 32 M/s",
        "16777216 bytes transferred in 0.500000 secs (33554432 bytes/sec)",
        "16777216 bytes transferred in 0.500 secs (33554432 bytes/sec)",
        "16777216 Bytes (17 MB, 16 MiB) kopiert, 0,5 s, 33,6 MB/s",
        "16777216 octets (17 MB, 16 MiB) copiés, 0,5 s, 33,6 MB/s",
        "16777216 bytes (17 MB, 16 MiB) copied, 5.0e-01 s, 33.6 MB/s",
    ],
)
@pytest.mark.parametrize("records", [RECORDS, ""])
def test_the_rate_is_bytes_by_seconds(line: str, records: str) -> None:
    (sample,) = dd.parse(records + line + "\n", status=0)
    assert (sample.tool, sample.algorithm, sample.ended) == (Tool.FILE, "write", Ended.WELL)
    assert (sample.rate, sample.seconds) == (33_554_432.0, 0.5)


def test_direction_and_place_are_the_callers() -> None:
    (sample,) = dd.parse(
        RECORDS + "16777216 bytes copied, 2 s, 8.4 MB/s\n", "x", 0, "read", Tool.ZFS
    )
    assert (sample.tool, sample.algorithm, sample.setting) == (Tool.ZFS, "read", "x")


def test_progress_is_not_the_figure() -> None:
    progress = "\r1048576 bytes (1.0 MB, 1.0 MiB) copied, 1 s, 1.0 MB/s" * 3
    last = "8388608 bytes (8.4 MB, 8.0 MiB) copied, 4 s, 2.1 MB/s\n"
    (sample,) = dd.parse(f"{progress}\n{RECORDS}{last}", status=0)
    assert sample.rate == 2_097_152.0
    first, second = dd.parse(f"{progress}\n{RECORDS}{last}{progress}\n{RECORDS}{last}", status=0)
    assert first.rate == second.rate == 2_097_152.0


def test_a_dd_that_prints_no_time() -> None:
    (sample,) = dd.parse(RECORDS, status=0)
    assert (sample.ended, sample.rate) == (Ended.FAILED, None)
    assert "no time" in sample.note


@pytest.mark.parametrize(
    ("text", "status", "ended", "words"),
    [
        (
            FULL + DONE,
            1,
            Ended.FAILED,
            "No space left",
        ),
        (
            FULL + DONE,
            None,
            Ended.INVALID,
            "No space left",
        ),
        ("dd: can't open '/x': No such file or directory\n", 1, Ended.FAILED, "can't open"),
        (DONE, 137, Ended.KILLED, "SIGKILL"),
        (f"{RECORDS}16777216 bytes copied, 0 s, Infinity B/s\n", 0, Ended.INVALID, "too short"),
        (f"{RECORDS}16777216 bytes copied, 0.0004 s, 42 GB/s\n", 0, Ended.INVALID, "too short"),
        (
            "0+0 records in\n0+0 records out\n0 bytes copied, 2 s, 0 B/s\n",
            0,
            Ended.INVALID,
            "no byte",
        ),
        ("sh: dd: not found\n", 127, Ended.FAILED, "dd is not there"),
        ("", 124, Ended.LATE, "within its time"),
        ("hello\n", None, Ended.INVALID, "not what `dd` prints"),
    ],
)
def test_no_figure(text: str, status: int | None, ended: Ended, words: str) -> None:
    (sample,) = dd.parse(text, status=status)
    assert (sample.ended, sample.rate) == (ended, None)
    assert words in sample.note


def test_a_harmless_complaint_takes_nothing() -> None:
    text = "dd: warning: partial read (65536 bytes); suggest iflag=fullblock\n" + DONE
    (sample,) = dd.parse(text, status=0)
    assert sample.rate == 8_388_608.0
