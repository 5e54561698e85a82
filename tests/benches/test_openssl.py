"""How each version of `openssl speed` is asked."""

from __future__ import annotations

import pytest

from unmask.benches import _openssl
from unmask.benches._openssl import ALGORITHMS
from unmask.benches._plan import Run
from unmask.model.bench import FORCED, MASKED, PADLOCK, PLAIN, WITHOUT_PCLMULQDQ
from unmask.model.cpu import HostCpu

X86 = HostCpu("x86_64", frozenset({"ssse3"}), "GenuineIntel")
ARM = HostCpu("aarch64", frozenset({"asimd", "aes", "pmull", "sha1"}), "ARM")
VIA = HostCpu("x86_64", frozenset({"ace", "ace_en"}), "CentaurHauls")


def runs(version: str, cpu: HostCpu | None = X86) -> list[Run]:
    return list(_openssl.runs(version, cpu, ALGORITHMS, 0.3))


def pairs(found: list[Run]) -> list[tuple[str, str]]:
    return [(run.algorithm, run.setting) for run in found]


def test_settings_that_tell_something_are_measured() -> None:
    assert pairs(runs("OpenSSL 3.0.19")) == [
        *(("aes-128-gcm", each) for each in (PLAIN, MASKED, WITHOUT_PCLMULQDQ, FORCED)),
        *(("aes-256-gcm", each) for each in (PLAIN, MASKED, WITHOUT_PCLMULQDQ, FORCED)),
        *(("aes-256-ctr", each) for each in (PLAIN, MASKED, FORCED)),
        ("chacha20-poly1305", PLAIN),
    ]


@pytest.mark.parametrize("version", ["OpenSSL 1.0.2k-fips", "OpenSSL 1.1.1w", "OpenSSL 3.5.9", ""])
def test_an_empty_variable_is_never_set(version: str) -> None:
    for run in runs(version):
        assert all(value for _, value in run.variables)
        assert bool(run.variables) == (run.setting != PLAIN)


def test_forcing_names_the_first_vector_only() -> None:
    forced = [run for run in runs("OpenSSL 3.5.9") if run.setting == FORCED]
    assert {run.variables for run in forced} == {(("OPENSSL_ia32cap", "0x0200020207000000"),)}


@pytest.mark.parametrize(
    ("version", "options", "block"),
    [
        ("OpenSSL 3.0.19", ("-seconds", "1", "-bytes", "16384"), 16384),
        ("OpenSSL 1.1.1", ("-seconds", "1", "-bytes", "16384"), 16384),
        ("OpenSSL 1.1.0l", (), 16384),
        ("OpenSSL 1.0.2k-fips", (), 8192),
        ("LibreSSL 3.8.2", (), 8192),
        ("something else", (), 8192),
    ],
)
def test_only_what_a_version_knows_is_asked(
    version: str, options: tuple[str, ...], block: int
) -> None:
    first = runs(version)[0]
    assert first.words == (
        "openssl", "speed", "-elapsed", "-mr", *options, "-evp", "aes-128-gcm"
    )  # fmt: skip
    assert first.block == block


@pytest.mark.parametrize("version", ["LibreSSL 3.8.2", "OpenSSL 0.9.8zh", "BoringSSL"])
def test_a_library_without_the_variable_is_measured_as_it_is(version: str) -> None:
    assert {run.setting for run in runs(version)} == {PLAIN}


def test_an_old_openssl_has_cbc_in_place_of_gcm() -> None:
    assert pairs(runs("OpenSSL 0.9.8zh")) == [("aes-128-cbc", PLAIN), ("aes-256-cbc", PLAIN)]


def test_an_old_openssl_measures_what_it_is_told_to() -> None:
    found = list(_openssl.runs("OpenSSL 0.9.8zh", X86, ("bf-cbc",), 0.3))
    assert pairs(found) == [("bf-cbc", PLAIN)]


def test_without_its_cpu_nothing_is_masked() -> None:
    assert {run.setting for run in runs("OpenSSL 3.0.19", None)} == {PLAIN}


def test_arm_has_a_variable_of_its_own() -> None:
    found = {run.setting: run.variables for run in runs("OpenSSL 3.0.19", ARM)}
    assert set(found) == {PLAIN, MASKED, FORCED}
    ((name, masked),) = found[MASKED]
    ((_, forced),) = found[FORCED]
    assert name == "OPENSSL_armcap"
    aes, pmull = 1 << 2, 1 << 5
    assert int(masked, 16) & (aes | pmull) == 0
    assert int(forced, 16) & (aes | pmull) == aes | pmull


def test_padlock_is_measured_with_and_without() -> None:
    found = [run for run in runs("OpenSSL 1.0.2k", VIA) if "cbc" in run.algorithm]
    assert pairs(found) == [
        ("aes-128-cbc", PLAIN),
        ("aes-128-cbc", PADLOCK),
        ("aes-256-cbc", PLAIN),
        ("aes-256-cbc", PADLOCK),
    ]
    assert "-engine" not in found[0].words
    assert found[1].words[4:6] == ("-engine", "padlock")


def test_padlock_beside_an_old_openssl_measures_nothing_twice() -> None:
    found = pairs(runs("OpenSSL 0.9.8zh", VIA))
    assert len(found) == len(set(found))
    assert ("aes-256-cbc", PADLOCK) in found
