"""Output that was made to harm: floods, controls, nonsense."""

import math
import random
from pathlib import Path
from types import ModuleType

import pytest

from unmask.dialects.bench import (
    _screen,
    apache_bench,
    cryptsetup_benchmark,
    dd,
    fio,
    iperf3,
    openssl_speed,
    openssl_version,
    pasted,
    s_time,
)
from unmask.model.bench import Sample

PARSERS = (openssl_speed, cryptsetup_benchmark, dd, fio, iperf3, apache_bench, s_time, pasted)
FIXTURES = Path(__file__).parents[3] / "fixtures" / "bench"
FILES = sorted(path for path in FIXTURES.rglob("*.*") if path.suffix in {".txt", ".err", ".json"})

FLOODS = (
    "Doing aes-128-gcm for 3s on 16 size blocks: 1 aes-128-gcm's in 3.00s\n",
    "type 8192 bytes\n# openssl speed\naes-128-gcm 1.00k\n",
    "# openssl speed -evp x\n",
    "aes-xts 256b 1.0 MiB/s 1.0 MiB/s\n",
    "1 connections in 31 real seconds\n",
    "1+1 records in\n16777216 bytes copied, 2 s, 8 MB/s\n",
    "[  5]   0.00-1.00   sec  1.59 GBytes  13.6 Gbits/sec    2             sender\n",
    "  WRITE: bw=19.0MiB/s (19.9MB/s), io=16.0MiB (16.8MB), run=841-841msec\n",
    '{"jobs":[',
    "1",
    "1.",
    " ",
    "# ",
    "\n",
    "\x1b[",
)


def check(sample: Sample) -> None:
    """Hold what is promised of every sample."""
    for words in (sample.algorithm, sample.note, sample.engine):
        assert all(char.isprintable() for char in words), words
        assert len(words) < 600
    assert all(char.isprintable() or char == "\n" for char in sample.raw)
    assert len(sample.raw) <= _screen.RAW_LIMIT
    assert sample.rate is None or (math.isfinite(sample.rate) and sample.rate > 0)
    assert (sample.rate is None) is (sample.ended != "well")
    assert sample.rate is not None or sample.note


@pytest.mark.parametrize("flood", FLOODS, ids=lambda flood: repr(flood[:20]))
@pytest.mark.parametrize("parser", PARSERS, ids=lambda parser: parser.__name__.rpartition(".")[2])
def test_a_flood_is_bounded(parser: ModuleType, flood: str) -> None:
    samples = parser.parse(flood * (2 * _screen.LIMIT // len(flood)))
    assert 1 <= len(samples) <= 501
    for sample in (samples[0], samples[-1]):
        check(sample)


@pytest.mark.parametrize("parser", PARSERS, ids=lambda parser: parser.__name__.rpartition(".")[2])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_damage_anywhere_is_survived(parser: ModuleType, path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    dice = random.Random(path.name)  # noqa: S311
    for _ in range(12):
        start = dice.randrange(len(text))
        junk = "".join(dice.choice("\x00\x1b[31m\u202e9.-k\n\r:'\"{\ufffe") for _ in range(6))
        for damaged in (
            text[:start],
            text[start:],
            text[:start] + junk + text[start + dice.randrange(9) :],
            text[:start] + text[dice.randrange(len(text)) :],
        ):
            samples = parser.parse(damaged, status=dice.choice((None, 0, 1, 132)))
            assert samples
            for sample in samples:
                check(sample)
            openssl_version.version(damaged)
            openssl_version.build(damaged)


def test_controls_and_colours_are_gone_and_the_figure_is_not() -> None:
    text = (
        "\x1b]0;title\x07\x1b[1;32mtype\x1b[0m\t8192 bytes\r\n"
        "\u202eAES-128-GCM\x1b[31m   23898.91k\x1b[0m\r\n"
    )
    (sample,) = openssl_speed.parse(text.replace("\u202e", ""))
    assert sample.rate == 23_898_910.0
    check(sample)
    for odd in openssl_speed.parse(text):
        check(odd)


def test_the_end_of_a_flood_is_read_too() -> None:
    text = "x" * (3 * _screen.LIMIT) + "\ntype 8192 bytes\nAES-128-GCM   23898.91k\n"
    assert openssl_speed.parse(text)[0].rate == 23_898_910.0
