"""Medians and spreads."""

import pytest

from support.benches import ILLEGAL, samples
from unmask.measure import statistics
from unmask.model.bench import FORCED, MASKED, PLAIN, Ended, Sample, Tool


def test_a_series_for_each_setting_in_order() -> None:
    rates = {"aes-256-gcm": {PLAIN: [100, 300, 200], MASKED: 10}, "aes-256-ctr": {PLAIN: 500}}
    found = statistics.series(samples(rates))
    assert [(one.algorithm, one.setting, one.rate) for one in found] == [
        ("aes-256-gcm", PLAIN, 200e6),
        ("aes-256-gcm", MASKED, 10e6),
        ("aes-256-ctr", PLAIN, 500e6),
    ]
    assert (found[0].low, found[0].high, found[0].count) == (100e6, 300e6, 3)


@pytest.mark.parametrize(
    ("rates", "spread"),
    [
        ([100, 100, 100], 0.0),
        ([90, 100, 110], 0.1),
        ([50, 99, 100, 101, 900], 0.01),
        ([10, 98, 99, 100, 101, 102, 900], 0.02),
        ([80, 120], 0.2),
    ],
)
def test_the_spread_forgives_one_bad_run_among_five(rates: list[float], spread: float) -> None:
    assert statistics.spread(rates) == pytest.approx(spread)


def test_a_single_run_has_no_spread_and_is_not_called_noisy() -> None:
    [one] = statistics.series(samples({"aes-256-gcm": {PLAIN: 100}}))
    assert one.spread is None
    assert not one.noisy


def test_noisy_is_more_than_a_tenth() -> None:
    rates = {"a": {PLAIN: [91, 100, 109]}, "b": {PLAIN: [80, 100, 110]}}
    quiet, noisy = statistics.series(samples(rates))
    assert not quiet.noisy
    assert noisy.noisy


def test_a_run_without_figure_does_not_count() -> None:
    [one] = statistics.series(samples({"aes-256-gcm": {FORCED: [ILLEGAL, 100]}}))
    assert (one.count, one.rate, one.ended, one.illegal) == (1, 100e6, Ended.WELL, 1)


def test_the_most_telling_end_stands_for_all() -> None:
    runs = [
        Sample(Tool.OPENSSL, "aes-256-gcm", FORCED, Ended.INVALID, note="zero"),
        Sample(Tool.OPENSSL, "aes-256-gcm", FORCED, Ended.ILLEGAL),
    ]
    [one] = statistics.series(runs)
    assert (one.ended, one.rate, one.notes) == (Ended.ILLEGAL, None, ("zero",))
    with pytest.raises(ValueError, match="no figure"):
        _ = one.per_second


def test_other_blocks_are_left_out_and_told() -> None:
    runs = (*samples({"x": {PLAIN: [10, 12]}}), *samples({"x": {PLAIN: 1}}, block=16))
    [one] = statistics.series(runs)
    assert (one.rate, one.block, one.count) == (11e6, 16384, 2)
    assert "another block" in one.notes[0]


def test_cycles_per_byte_of_the_field() -> None:
    assert round(statistics.cycles_per_byte(310e6, 3.4e9), 1) == 11.0
    assert round(statistics.cycles_per_byte(4850e6, 3.4e9), 1) == 0.7
