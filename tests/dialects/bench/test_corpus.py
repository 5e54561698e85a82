"""Outputs that people have published, answered as their collectors judged, where they are here."""

from pathlib import Path

import pytest

from unmask.dialects.bench import cryptsetup_benchmark, openssl_speed, openssl_version, pasted
from unmask.model.bench import Ended, Sample, Tool

FOLDER = Path(__file__).parents[4] / "shared" / "corpus"
MIB = 1024**2

SPEEDS: dict[str, tuple[tuple[str, float, int], ...]] = {
    "ssl-001-0.9.8k-cookbook": (
        ("sha1", 327.6, 8192),
        ("aes-128-cbc", 182.4, 8192),
        ("aes-192-cbc", 153.9, 8192),
        ("aes-256-cbc", 127.4, 8192),
        ("sha256", 138.3, 8192),
        ("sha512", 214.5, 8192),
    ),
    "ssl-002-0.9.8zc-macos-sha": (("sha256", 168.8, 8192), ("sha512", 258.6, 8192)),
    "ssl-003-1.0.1e-fips-i686": (("aes-128-cbc", 90.7, 8192),),
    "ssl-006-1.1.1f-noevp-issue13516": (("aes-128-cbc", 181.8, 16384),),
    "ssl-008-1.1.1-vs-aead-gcm": (("aes-128-gcm", 6520.3, 16384),),
    "ssl-009-zfs15245-1.1.1-gcm-doing-only": (("aes-256-gcm", 735.6, 1024),),
    "ssl-013-vmware-guest-illegal-instruction": (("aes-256-cbc", 49.3, 16384),),
    "ssl-014-3.0.0-openvms": (("aes-128-cbc", 65.9, 16384),),
    "ssl-015-1.0.2g-armv7-old-format": (
        ("aes-128-cbc", 33.8, 8192),
        ("aes-128-cbc", 33.8, 8192),
        ("aes-192-cbc", 28.8, 8192),
        ("aes-192-cbc", 28.8, 8192),
        ("aes-256-cbc", 25.3, 8192),
        ("aes-256-cbc", 25.4, 8192),
    ),
    "ssl-017-3.0.2-kvm-guest-arm": (
        ("aes-128-cbc", 2388.7, 16384),
        ("aes-128-cbc", 2387.2, 16384),
        ("aes-192-cbc", 1990.3, 16384),
        ("aes-192-cbc", 1991.8, 16384),
        ("aes-256-cbc", 1706.1, 16384),
        ("aes-256-cbc", 1706.2, 16384),
    ),
    "ssl-018-3.0.2-celeron-5205u": (
        ("aes-128-cbc", 716.9, 16384),
        ("aes-128-cbc", 717.0, 16384),
        ("aes-192-cbc", 602.4, 16384),
        ("aes-192-cbc", 602.5, 16384),
        ("aes-256-cbc", 521.1, 16384),
        ("aes-256-cbc", 521.1, 16384),
    ),
    "ssl-019-3.3.1-meteor-lake": (
        ("aes-256-cbc", 1698.2, 16384),
        ("aes-256-cbc", 1336.0, 16384),
        ("aes-256-cbc", 902.6, 16384),
    ),
    "ssl-020-3.2.4": (("aes-256-cbc", 1425.1, 16384), ("aes-256-cbc", 1426.5, 16384)),
    "ssl-021-mips-afalg-warning-lines": (("aes-256-cbc", 5.17, 16384),),
}
"""MB/s of each algorithm, and the block."""


def text(name: str) -> str:
    if not FOLDER.is_dir():
        pytest.skip("the corpus of real outputs is not here")
    return (FOLDER / f"{name}.txt").read_text(encoding="utf-8", errors="replace")


def speed(name: str) -> tuple[Sample, ...]:
    return openssl_speed.parse(text(name))


@pytest.mark.parametrize("name", SPEEDS)
def test_the_rates_of_openssl(name: str) -> None:
    found = speed(name)
    assert [(item.algorithm, item.block) for item in found] == [
        (algorithm, block) for algorithm, _, block in SPEEDS[name]
    ]
    for sample, (_, rate, _) in zip(found, SPEEDS[name], strict=True):
        assert sample.ended is Ended.WELL
        assert (sample.rate or 0) / 1e6 == pytest.approx(rate, abs=0.06)


def test_every_case_is_answered() -> None:
    if not FOLDER.is_dir():
        pytest.skip("the corpus of real outputs is not here")
    speeds = {path.stem for path in FOLDER.glob("ssl-*.txt")}
    assert speeds == {*SPEEDS, "ssl-012-illegal-instruction-aix"}


@pytest.mark.parametrize("name", [*SPEEDS, "ssl-012-illegal-instruction-aix"])
def test_pasted_output_is_known_as_openssls(name: str) -> None:
    content = text(name)
    assert pasted.parse(content) == openssl_speed.parse(content)


def test_a_library_that_never_uses_aes_ni_says_nothing_of_the_processor() -> None:
    samples = {item.algorithm: item for item in speed("ssl-001-0.9.8k-cookbook")}
    assert "0.9.8k has no AES-NI code" in samples["aes-128-cbc"].note
    assert samples["sha256"].note == ""


@pytest.mark.parametrize(
    "name",
    [
        "ssl-003-1.0.1e-fips-i686",
        "ssl-006-1.1.1f-noevp-issue13516",
        "ssl-013-vmware-guest-illegal-instruction",
    ],
)
def test_without_evp_nothing_is_said_of_the_processor(name: str) -> None:
    (sample,) = speed(name)
    assert sample.evp is False
    assert "without -evp" in sample.note
    assert "computed from its counts" in sample.note


def test_builds_for_32_bits_are_known() -> None:
    build = openssl_version.build(text("ssl-003-1.0.1e-fips-i686"))
    assert (build.word, build.release) == (32, (1, 0, 1))
    assert openssl_version.build(text("ssl-006-1.1.1f-noevp-issue13516")).assembly is True


def test_a_small_block_is_said_to_be_one() -> None:
    (sample,) = speed("ssl-009-zfs15245-1.1.1-gcm-doing-only")
    assert "1024-byte blocks only" in sample.note


def test_an_illegal_instruction_is_no_figure() -> None:
    (sample,) = speed("ssl-012-illegal-instruction-aix")
    assert (sample.algorithm, sample.ended) == ("aes-256-gcm", Ended.ILLEGAL)
    assert sample.rate is None
    assert "SIGILL" in sample.note
    version = openssl_version.version(text("ssl-012-illegal-instruction-aix"))
    assert version.version == "OpenSSL 3.0.7"


def test_no_architecture_is_known_where_none_is_printed() -> None:
    assert openssl_version.build(text("ssl-014-3.0.0-openvms")).architecture == ""


def test_the_kinds_of_cores_are_named() -> None:
    notes = [item.note for item in speed("ssl-019-3.3.1-meteor-lake")]
    assert notes == ["Redwood Cove", "Crestmont", "Crestmont"]


def test_an_engine_is_seen_by_what_a_call_costs() -> None:
    (sample,) = speed("ssl-021-mips-afalg-warning-lines")
    assert "each call costs 49 microseconds" in sample.note
    assert "engine" in sample.note
    assert sample.evp is True


def ciphers(name: str) -> dict[str, Sample]:
    return {item.algorithm: item for item in cryptsetup_benchmark.parse(text(name))}


def test_rows_that_are_not_available_and_one_that_is_cut() -> None:
    found = ciphers("csb-001-rpi4-na-rows")
    assert found["aes-xts-256-encrypt"].rate == pytest.approx(32.7 * MIB)
    absent = [item for item in found.values() if item.ended is Ended.UNSUPPORTED]
    assert {item.algorithm.split("-")[0] for item in absent} == {"serpent"}
    assert all(item.rate is None for item in absent)
    assert found["twofish-xts-256-encrypt"].ended is Ended.INVALID


def test_the_one_row_between_a_kernels_messages() -> None:
    found = ciphers("csb-002-heads-all-na")
    assert {name: round((item.rate or 0) / MIB, 1) for name, item in found.items()} == {
        "aes-cbc-128-encrypt": 7.4,
        "aes-cbc-128-decrypt": 8.0,
    }


def test_collapsed_blanks() -> None:
    found = ciphers("csb-004-fedora28-laptop")
    assert len(found) == 24
    assert found["aes-xts-256-encrypt"].rate == pytest.approx(433.7 * MIB)
    assert found["serpent-xts-256-encrypt"].rate == pytest.approx(101.0 * MIB)


def test_a_single_row() -> None:
    found = ciphers("csb-006-m1-single-row")
    assert found["aes-xts-256-encrypt"].rate == pytest.approx(3583.5 * MIB)


def test_a_test_frameworks_lines_are_refused_as_such() -> None:
    for sample in (
        *cryptsetup_benchmark.parse(text("csb-007-linaro-testcase-form")),
        *pasted.parse(text("csb-007-linaro-testcase-form")),
    ):
        assert (sample.tool, sample.ended) == (Tool.CRYPTSETUP, Ended.INVALID)
        assert sample.rate is None
        assert "not the output of `cryptsetup benchmark`" in sample.note
