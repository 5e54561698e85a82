"""Results of benchmarks as text, and back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from unmask.dialects import saved_bench
from unmask.errors import InputError
from unmask.model.bench import FORCED, MASKED, BenchResult, Ended, Environment, Sample, Tool
from unmask.model.cpu import Accelerator, HostCpu
from unmask.model.reading import Known, Missing

RESULTS = (
    BenchResult(
        subject="lab/101",
        name="web",
        host="lab/pve1",
        started="2026-12-01T10:00:00Z",
        method="quick",
        way="ssh root@10.0.0.7",
        environment=Environment(
            cpu=Known(HostCpu("x86_64", frozenset({"aes", "ssse3"}), "GenuineIntel")),
            system=Missing("its answer ended before it", "more time"),
            accelerator=Accelerator.KVM,
            drivers=(("xts(aes)", "xts-aes-aesni"),),
            override="OPENSSL_ia32cap=~0x0",
            pinned=True,
            load=0.25,
        ),
        samples=(
            Sample(Tool.OPENSSL, "aes-256-gcm", rate=3_000_000_000.5, block=16384, steal=0.0),
            Sample(Tool.OPENSSL, "aes-256-gcm", MASKED, rate=170000000, raw="+F:25\nmore"),
            Sample(Tool.OPENSSL, "aes-256-gcm", FORCED, Ended.ILLEGAL, note="SIGILL"),
        ),
        problems=("cryptsetup is not there",),
    ),
    BenchResult("lab/102", method="quick"),
)


def altered(**changes: Any) -> str:
    """Return the text of the results with changes to the first sample."""
    value = json.loads(saved_bench.dump(RESULTS))
    value["results"][0]["samples"][0].update(changes)
    return json.dumps(value)


def test_results_come_back_as_they_were() -> None:
    text = saved_bench.dump(RESULTS)
    assert text.isascii()
    assert saved_bench.load(text) == RESULTS
    assert saved_bench.dump(saved_bench.load(text)) == text


def test_a_rate_without_a_fraction_is_a_rate() -> None:
    (first, *_) = saved_bench.load(altered(rate=12))[0].samples
    assert first.rate == 12.0
    assert isinstance(first.rate, float)


@pytest.mark.parametrize("value", [True, "12", float("nan"), float("inf"), 10**400])
def test_a_rate_that_is_no_finite_number_is_refused(value: object) -> None:
    with pytest.raises(InputError, match=r"results\[0\]\.samples\[0\]\.rate: .* finite number"):
        saved_bench.load(altered(rate=value))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not saved by unmask bench"),
        ("[]", "not an object"),
        ("[" * 100_000, "not saved by unmask bench"),
        ("{}", '"schema" is not'),
        ('{"schema": "unmask.inventory/1"}', '"schema" is not'),
        ('{"schema": "unmask.bench-results/2"}', "version '2'"),
        ('{"schema": "unmask.bench-results/1"}', "'results' is missing"),
        ('{"schema": "unmask.bench-results/1", "schema": 1}', "appears twice"),
    ],
)
def test_what_is_no_such_file_is_refused(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        saved_bench.load(text)


def test_a_machine_that_appears_twice_is_refused() -> None:
    with pytest.raises(InputError, match="'lab/102' appears twice"):
        saved_bench.load(saved_bench.dump((RESULTS[1], RESULTS[1])))


@pytest.mark.parametrize("rate", [-5, -0.001, 1e300])
def test_rates_that_cannot_be_are_refused(rate: float) -> None:
    with pytest.raises(InputError, match=r"results\[0\]\.samples\[0\]\.rate cannot be a rate"):
        saved_bench.load(altered(rate=rate))
