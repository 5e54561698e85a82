"""`fio`: JSON and text of both generations."""

import json
from pathlib import Path

import pytest

from unmask.dialects.bench import fio
from unmask.model.bench import Ended, Tool

RECORDED = Path(__file__).parents[3] / "fixtures" / "bench" / "recorded"

NEW = """\
w: (g=0): rw=rw, bs=(R) 128KiB-128KiB, (W) 128KiB-128KiB, (T) 128KiB-128KiB, ioengine=psync
fio-3.33
Run status group 0 (all jobs):
   READ: bw=713MiB/s (747MB/s), 713MiB/s-713MiB/s, io=7296KiB, run=910-910msec
  WRITE: bw=1.5GiB/s (1611MB/s), 888MiB/s-888MiB/s, io=9088KiB, run=900-910msec
"""
OLD = """\
w: (g=0): rw=write, bs=128K-128K/128K-128K/128K-128K, ioengine=psync, iodepth=1
fio-2.2.10
Run status group 0 (all jobs):
  WRITE: io=16384KB, aggrb=19481KB/s, minb=19481KB/s, maxb=19481KB/s, mint=841msec, maxt=841msec
"""


def job(group: int = 0, error: int = 0, **ways: dict[str, float]) -> dict[str, object]:
    idle = {"io_bytes": 0, "bw_bytes": 0, "bw": 0, "runtime": 0}
    return {
        "groupid": group,
        "error": error,
        "job options": {"bs": "64k", "rw": "rw"},
        "read": ways.get("read", idle),
        "write": ways.get("write", idle),
    }


def did(rate: float, runtime: float = 1000) -> dict[str, float]:
    return {"io_bytes": rate, "bw_bytes": rate, "bw": rate // 1024, "runtime": runtime}


def document(*jobs: dict[str, object]) -> str:
    return json.dumps({"fio version": "fio-3.33", "jobs": jobs})


def test_recorded_json() -> None:
    text = (RECORDED / "fio-luks.json").read_text(encoding="utf-8")
    (sample,) = fio.parse(text, status=0, tool=Tool.ZFS)
    assert (sample.tool, sample.algorithm, sample.ended) == (Tool.ZFS, "write", Ended.WELL)
    assert (sample.rate, sample.seconds, sample.block) == (19_949_127.0, 0.841, 131072)


def test_jobs_of_a_group_are_added_and_groups_are_not() -> None:
    text = document(
        job(0, read=did(100e6), write=did(10e6, 900)),
        job(0, read=did(200e6), write=did(20e6, 1100)),
        job(1, write=did(7e6)),
    )
    found = [(item.algorithm, item.rate, item.seconds) for item in fio.parse(text)]
    assert found == [("read", 300e6, 1.0), ("write", 30e6, 1.1), ("write", 7e6, 1.0)]


def test_json_behind_warnings_and_of_version_2() -> None:
    ways: dict[str, float] = {"io_bytes": 16384, "bw": 19481, "runtime": 841}
    text = "fio: this platform does not support process shared mutexes\n" + document(
        job(write=ways)
    )
    (sample,) = fio.parse(text)
    assert sample.rate == 19481 * 1024.0


def test_text_of_version_3() -> None:
    read, write = fio.parse(NEW)
    assert (read.algorithm, read.rate, read.seconds) == ("read", 713 * 1024.0**2, 0.91)
    assert (write.algorithm, write.rate, write.block) == ("write", 1.5 * 1024**3, 131072)


def test_text_of_version_2_means_powers_of_1024() -> None:
    (sample,) = fio.parse(OLD)
    assert (sample.algorithm, sample.rate, sample.seconds) == ("write", 19481 * 1024.0, 0.841)
    assert sample.block == 131072


@pytest.mark.parametrize(
    ("text", "status", "ended", "words"),
    [
        (document(job(error=28, write=did(1e6))), 1, Ended.INVALID, "error 28"),
        (document(job(write=did(1e6, 3))), 0, Ended.INVALID, "too short"),
        (document(job(write=did(1e15))), 0, Ended.INVALID, "cannot be"),
        (document(job()), 0, Ended.INVALID, "not what `fio` prints"),
        (document(job())[:-40], 0, Ended.INVALID, "not what `fio` prints"),
        ("[" * 100_000, 0, Ended.INVALID, "not what `fio` prints"),
        ('{"jobs":' * 50_000, 0, Ended.INVALID, "not what `fio` prints"),
        ('{"jobs": [1, null, {"read": 5}]}', 0, Ended.INVALID, "not what `fio` prints"),
        (
            "fio: pid=1, err=28/file:io_u.c:1876, error=No space left on device\n",
            1,
            Ended.FAILED,
            "No space",
        ),
        ("sh: 1: fio: not found\n", 127, Ended.FAILED, "fio is not there"),
        ("", 124, Ended.LATE, "within its time"),
    ],
)
def test_no_figure(text: str, status: int, ended: Ended, words: str) -> None:
    (sample,) = fio.parse(text, status=status)
    assert (sample.algorithm, sample.ended, sample.rate) == ("write", ended, None)
    assert words in sample.note


def test_an_error_in_the_text_spoils_its_figure() -> None:
    text = "w: (groupid=0, jobs=1): err=28 (file:io_u.c:1876, func=io_u error): pid=1\n" + OLD
    (sample,) = fio.parse(text)
    assert (sample.ended, sample.rate) == (Ended.INVALID, None)
