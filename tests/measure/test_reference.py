"""Shares of the node's speed, and what other CPU models would do."""

from dataclasses import replace

import pytest

from support.benches import ILLEGAL, environment, result, samples
from unmask.measure import reference
from unmask.model.bench import MASKED, PLAIN, Tool

NODE = result(
    {"aes-256-gcm": {PLAIN: 4261, MASKED: 205}, "aes-256-ctr": {PLAIN: 6317}},
    environment("aes pclmulqdq", detected="none"),
)
GUEST = result(
    {"aes-256-gcm": {PLAIN: 554, MASKED: 205}, "aes-256-ctr": {PLAIN: 6200}, "x": {PLAIN: 1}},
    environment("aes"),
)


def test_shares_of_what_both_have_measured() -> None:
    gcm, ctr = reference.shares(GUEST, NODE)
    assert gcm.sentence == ("aes-256-gcm at 13 % of this node's speed (554 MB/s of 4261 MB/s).")
    assert ctr.share == pytest.approx(0.98, abs=0.01)


def test_the_headline_is_that_of_gcm() -> None:
    assert reference.headline(GUEST, NODE) == "GCM at 13 % of this node's speed"
    without = replace(GUEST, samples=samples({"aes-256-xts": {PLAIN: 100}}))
    node = replace(NODE, samples=samples({"aes-256-xts": {PLAIN: 1000}}))
    assert reference.headline(without, node) == "XTS at 10 % of this node's speed"
    assert reference.headline(without, NODE) == ""


def test_another_version_is_said_and_makes_no_headline() -> None:
    other = replace(NODE, environment=environment("aes", version="OpenSSL 3.5.9"))
    gcm, _ = reference.shares(GUEST, other)
    assert "OpenSSL 3.0.20 was measured in the guest and OpenSSL 3.5.9" in gcm.sentence
    assert reference.headline(GUEST, other) == ""


def test_another_block_is_said() -> None:
    node = replace(NODE, samples=samples({"aes-256-gcm": {PLAIN: 4000}}, block=8192))
    [gcm] = reference.shares(GUEST, node)
    assert "blocks of 16384 and 8192 bytes" in gcm.sentence


def test_requests_keep_their_unit() -> None:
    runs = [samples({"requests": {PLAIN: rate * 1e-6}}, Tool.TLS) for rate in (25.7, 48.44)]
    [share] = reference.shares(*(replace(GUEST, samples=each) for each in runs))
    assert "(25.70 requests/s of 48.44 requests/s)" in share.sentence


class TestWhatIf:
    RATES = {  # noqa: RUF012 - never changed
        "aes-256-gcm": {
            PLAIN: 4261, "kvm64": 84, "x86-64-v2-AES": 450, "Westmere": 2966, "host": 4297,
        },
        "aes-256-ctr": {"kvm64": 99, "x86-64-v2-AES": 6319, "broken": ILLEGAL},
    }  # fmt: skip

    def test_factors_against_the_current_model_and_the_host(self) -> None:
        rows = reference.what_if(result(self.RATES), "kvm64")
        gcm = {row.model: row for row in rows if row.algorithm == "aes-256-gcm"}
        assert list(gcm) == ["kvm64", "x86-64-v2-AES", "Westmere", "host"]
        assert gcm["Westmere"].factor == pytest.approx(2966 / 84)
        assert gcm["Westmere"].of_host == pytest.approx(2966 / 4297)
        assert gcm["kvm64"].factor == 1

    def test_without_a_host_run_nothing_masked_is_the_ceiling(self) -> None:
        rates = {"aes-256-gcm": {PLAIN: 1000, "kvm64": 100}}
        [row] = reference.what_if(result(rates))
        assert row.of_host == pytest.approx(0.1)
        assert row.factor is None

    def test_a_model_without_figure(self) -> None:
        rows = reference.what_if(result(self.RATES), "kvm64")
        broken = next(row for row in rows if row.model == "broken")
        assert (broken.rate, broken.factor) == (None, None)
        assert broken.note == "illegal-instruction"

    def test_the_gain_in_words(self) -> None:
        rows = reference.what_if(result(self.RATES), "kvm64")
        said = reference.gain(rows, "Westmere", "aes-256-gcm")
        assert said == "aes-256-gcm 35.3 times as fast as now, measured on this node"
        assert reference.gain(rows, "broken", "aes-256-ctr") == ""
