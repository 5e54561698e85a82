"""Figures of `openssl speed` from which nothing may be taken."""

import pytest

from unmask.dialects.bench import openssl_speed
from unmask.model.bench import Ended, Sample

SIX = "type             16 bytes     64 bytes    256 bytes   1024 bytes   8192 bytes  16384 bytes\n"
ELAPSED = "You have chosen to measure elapsed time instead of user CPU time.\n"


def only(text: str) -> Sample:
    (sample,) = openssl_speed.parse(text)
    return sample


def count(seconds: str, calls: str = "9000", asked: int = 3, block: int = 16384) -> str:
    return (
        f"Doing aes-128-gcm for {asked}s on {block} size blocks: "
        f"{calls} aes-128-gcm's in {seconds}s\n"
    )


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ("0.00 0.00 0.00 0.00 0.00 0.00", "zero"),
        ("1000.00k 2000.00k 3000.00k 4000.00k 5000.00k 0.00", "zero"),
        ("inf inf inf inf inf inf", "not a number"),
        ("infk infk infk infk infk infk", "not a number"),
        ("-nan -nan -nan -nan -nan -nan", "not a number"),
        ("1.#INFk 1.#INFk 1.#INFk 1.#INFk 1.#INFk 1.#INFk", "not a number"),
        ("1000.00k 2000.00k nan 4000.00k 5000.00k 6000.00k", "256-byte"),
        ("-1000.00k -2000.00k -3000.00k -4000.00k -5000.00k -6000.00k", "negative"),
        ("1.00k 2.00k 3.00k 4.00k 5.00k 280000000.00k", "280 GB/s"),
        ("5000.00k 5100.00k 5200.00k 5300.00k 2000.00k 2100.00k", "slower than 16-byte"),
        ("5000.00k 6000.00k 7000.00k", "16, 64, 256-byte blocks"),
    ],
)
def test_a_table_that_cannot_be_true(values: str, words: str) -> None:
    sample = only(f"{SIX}aes-128-gcm  {values}\n")
    assert (sample.algorithm, sample.ended) == ("aes-128-gcm", Ended.INVALID)
    assert sample.rate is None
    assert sample.block is None
    assert words in sample.note


def test_the_column_of_16_bytes_alone_is_no_bulk_rate() -> None:
    sample = only("type             16 bytes\nAES-128-GCM     645702.71k\n")
    assert (sample.ended, sample.rate) == (Ended.INVALID, None)
    assert "cost of a call" in sample.note


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (count("0.00"), "no time at all"),
        (count("0.00", "0"), "no time at all"),
        (count("-0.48"), "backwards"),
        (count("nan"), "backwards"),
        (count("3.00", "0"), "zero"),
        (count("3.00", "-12"), "negative"),
        (count("9.71"), "stood still"),
        (ELAPSED + count("9.71"), "stood still"),
        (ELAPSED + count("0.91"), "clock was set"),
        (count("0.07"), "with -elapsed"),
        ('engine "devcrypto" set.\n' + count("0.41"), "with -elapsed"),
        (count("3.00", "99999999999"), "than any processor"),
    ],
)
def test_counts_that_cannot_be_true(text: str, words: str) -> None:
    sample = only(text)
    assert (sample.ended, sample.rate) == (Ended.INVALID, None)
    assert words in sample.note


def test_one_bad_count_spoils_a_good_table() -> None:
    text = count("-0.01", block=8192) + count("3.00") + "type  8192 bytes  16384 bytes\n"
    assert only(f"{text}aes-128-gcm  49000.00k  49152.00k\n").ended is Ended.INVALID


def test_a_table_and_counts_that_disagree() -> None:
    head = count("3.00") + "type          16384 bytes\naes-128-gcm  "
    assert only(f"{head}49152.00k\n").rate == 49_152_000.0
    sample = only(f"{head}98304.00k\n")
    assert sample.ended is Ended.INVALID
    assert "disagree" in sample.note


def test_the_rounding_of_a_short_time_is_no_contradiction() -> None:
    text = count("0.02", "9000", asked=1).replace("for 1s", "for 0s")
    assert only(f"{text}type  16384 bytes\naes-128-gcm  6144000.00k\n").rate == 6_144_000_000.0


def test_a_share_of_a_processor_is_said() -> None:
    sample = only(count("1.17"))
    assert sample.rate == pytest.approx(9000 * 16384 / 1.17)
    assert "1.17 s of 3" in sample.note
    assert only('engine "padlock" set.\n' + count("1.17")).rate == sample.rate
    assert "a processor" not in only(ELAPSED + count("2.17")).note


def test_noise_between_equal_blocks_is_no_disturbance() -> None:
    values = "19100.00k 19500.00k 19300.00k 19400.00k 19200.00k 18900.00k"
    assert only(f"{SIX}des-ede3  {values}\n").rate == 18_900_000.0


def test_many_processes_may_do_more_than_one() -> None:
    children = "".join(f"Forked child {number}\n" for number in range(64))
    sample = only(f"{children}type  8192 bytes\naes-128-gcm  640000000.00k\n")
    assert (sample.rate, sample.processes) == (640e9, 64)


def test_an_operation_that_failed_was_not_measured() -> None:
    error = (
        "40C75D:error:1C800066:Provider routines:aes_xts_stream_update:cipher operation failed:"
        "../providers/implementations/ciphers/cipher_aes_xts.c:204:\n"
    )
    sample = only(f"{count('3.00')}{error}type  16384 bytes\naes-128-gcm  49152.00k\n")
    assert (sample.ended, sample.rate) == (Ended.INVALID, None)
    assert "failed" in sample.note
