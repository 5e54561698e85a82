"""`ab` and `openssl s_time`: requests of a TLS server."""

from pathlib import Path

import pytest

from unmask.dialects.bench import apache_bench, s_time
from unmask.model.bench import Ended, Tool

AB = (Path(__file__).parents[3] / "fixtures" / "bench" / "headlines" / "ab-before.txt").read_text(
    encoding="utf-8"
)
S_TIME = """\
Collecting connection statistics for 30 seconds
****************
2523 connections in 1.36s; 1855.15 connections/user sec, bytes read 1033534335
2523 connections in 31 real seconds, 409645 bytes read per connection


Now timing with session id reuse.
starting
rrrrrrrrrrrr
4345 connections in 1.22s; 3561.48 connections/user sec, bytes read 1779907525
4345 connections in 31 real seconds, 409645 bytes read per connection
"""


def test_ab() -> None:
    requests, transfer = apache_bench.parse(AB, status=0)
    assert (requests.tool, requests.ended) == (Tool.TLS, Ended.WELL)
    assert (requests.algorithm, requests.rate) == ("requests", 25.70)
    assert (transfer.algorithm, transfer.rate) == ("transfer", 10286.47 * 1024)
    assert requests.seconds == 38.911
    assert requests.note == "answers of 409600 bytes, TLSv1.2,ECDHE-RSA-AES256-GCM-SHA384,2048,256"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("Failed requests:        0", "Failed requests:        400", "400 of 1000 requests failed"),
        (
            "Failed requests:        0",
            "Failed requests:        0\nNon-2xx responses:      1000",
            "answered with errors",
        ),
        ("(be patient)...", "(be patient)..." + "SSL read failed (5) - closing\n" * 30, "in TLS"),
        ("Complete requests:      1000", "Complete requests:      0", "no request"),
        ("second:    25.70", "second:    0.00", "zero"),
        ("second:    25.70", "second:    inf", "not a number"),
    ],
)
def test_ab_of_other_work_than_asked_for(old: str, new: str, words: str) -> None:
    assert old in AB
    sample = apache_bench.parse(AB.replace(old, new))[0]
    assert (sample.ended, sample.rate) == (Ended.INVALID, None)
    assert words in sample.note


def test_ab_takes_answers_of_other_lengths_for_good() -> None:
    failed = "Failed requests:        900\n   (Connect: 0, Receive: 0, Length: 900, Exceptions: 0)"
    sample = apache_bench.parse(AB.replace("Failed requests:        0", failed))[0]
    assert sample.rate == 25.70


@pytest.mark.parametrize(
    ("text", "status", "ended", "words"),
    [
        ("apr_socket_connect(): Connection refused (111)\n", 111, Ended.FAILED, "refused"),
        ("ab: invalid URL\n", 1, Ended.FAILED, "invalid URL"),
        (AB.split("Concurrency")[0], 124, Ended.LATE, "within its time"),
        ("bash: ab: command not found\n", 127, Ended.FAILED, "ab is not there"),
        ("hello\n", None, Ended.INVALID, "not what `ab` prints"),
    ],
)
def test_ab_without_a_figure(text: str, status: int | None, ended: Ended, words: str) -> None:
    (sample,) = apache_bench.parse(text, status=status)
    assert (sample.algorithm, sample.ended, sample.rate) == ("requests", ended, None)
    assert words in sample.note


def test_s_time_by_real_seconds() -> None:
    samples = s_time.parse(S_TIME, status=0)
    rates: dict[str, object] = {item.algorithm: item.rate for item in samples}
    assert rates == {
        "requests": pytest.approx(2523 / 31),
        "transfer": pytest.approx(2523 * 409645 / 31),
        "requests-reused": pytest.approx(4345 / 31),
    }
    assert samples[0].seconds == 31.0
    assert "3% too low" in samples[0].note


def test_s_time_of_handshakes_alone_transfers_nothing() -> None:
    text = "2222 connections in 31 real seconds, 0 bytes read per connection\n"
    assert [item.algorithm for item in s_time.parse(text)] == ["requests"]


@pytest.mark.parametrize(
    ("text", "status", "ended", "words"),
    [
        ("20 connections in 3 real seconds, 0 bytes read\n", 0, Ended.INVALID, "too short"),
        ("0 connections in 31 real seconds\n", 1, Ended.INVALID, "no connection"),
        (
            "ERROR\n807B:error:8000006F:system library:BIO_connect:Connection refused:bio.c:117:\n",
            1,
            Ended.FAILED,
            "Connection refused",
        ),
        ("ERROR\n", 1, Ended.FAILED, "ERROR"),
        ("sh: openssl: not found\n", 127, Ended.FAILED, "openssl is not there"),
        ("hello\n", None, Ended.INVALID, "not what `openssl s_time` prints"),
    ],
)
def test_s_time_without_a_figure(text: str, status: int | None, ended: Ended, words: str) -> None:
    (sample,) = s_time.parse(text, status=status)
    assert (sample.algorithm, sample.ended, sample.rate) == ("requests", ended, None)
    assert words in sample.note
