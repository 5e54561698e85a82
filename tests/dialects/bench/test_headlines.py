"""The figures that people publish, as their programs print them, read to numbers."""

from pathlib import Path

import pytest

from unmask.dialects.bench import pasted
from unmask.model.bench import PADLOCK, PLAIN, Ended, Sample

HEADLINES = Path(__file__).parents[3] / "fixtures" / "bench" / "headlines"


def read(name: str) -> Sample:
    """Return the first sample of one of the files, which holds the headline."""
    return pasted.parse((HEADLINES / f"{name}.txt").read_text(encoding="utf-8"))[0]


@pytest.mark.parametrize(
    ("before", "after", "rates", "factor"),
    [
        ("padlock-off", "padlock-on", (16_793_600.0, 782_983_170.0), 46.6),
        ("gcm-hidden", "gcm-shown", (310e6, 4850e6), 15.6),
        ("zfs-write-before", "zfs-write-after", (110e6, 866e6), 7.9),
        ("nfs-read-before", "nfs-read-after", (42e6, 1.2e9), 28.6),
        ("ab-before", "ab-after", (25.70, 48.44), 1.9),
    ],
)
def test_before_and_after(
    before: str, after: str, rates: tuple[float, float], factor: float
) -> None:
    first, second = read(before), read(after)
    assert first.ended is second.ended is Ended.WELL
    assert first.rate == pytest.approx(rates[0], rel=1e-4)
    assert second.rate == pytest.approx(rates[1], rel=1e-4)
    assert (first.tool, first.algorithm) == (second.tool, second.algorithm)
    assert (second.rate or 0) / (first.rate or 1) == pytest.approx(factor, abs=0.06)


def test_the_padlock_engine_is_told_apart_from_the_library() -> None:
    off, on = read("padlock-off"), read("padlock-on")
    assert (off.setting, on.setting) == (PLAIN, PADLOCK)
    assert off.block == on.block == 8192
    assert off.algorithm == on.algorithm == "aes-256-cbc"
    both = "\n".join(
        (HEADLINES / f"padlock-{name}.txt").read_text(encoding="utf-8") for name in ("off", "on")
    )
    pair = pasted.parse(both)
    assert [(item.setting, item.rate) for item in pair] == [
        (PLAIN, off.rate),
        (PADLOCK, on.rate),
    ]


def test_cycles_a_byte() -> None:
    clock = 3.4e9
    assert clock / (read("gcm-hidden").rate or 1) == pytest.approx(11.0, abs=0.05)
    assert clock / (read("gcm-shown").rate or 1) == pytest.approx(0.7, abs=0.05)


def test_the_link_that_the_new_nfs_figure_sits_at() -> None:
    link, reads = read("link-10g"), read("nfs-read-after")
    assert link.algorithm == "link"
    assert link.rate == pytest.approx(1.2325e9)
    assert (reads.rate or 0) / (link.rate or 1) > 0.9
