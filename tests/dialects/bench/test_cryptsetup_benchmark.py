"""`cryptsetup benchmark`: rows in both directions, and what it says where it cannot."""

from pathlib import Path

import pytest

from unmask.dialects.bench import cryptsetup_benchmark
from unmask.model.bench import Ended, Sample, Tool

RECORDED = Path(__file__).parents[3] / "fixtures" / "bench" / "recorded"
MIB = 1024**2

TABLE = """\
# Tests are approximate using memory only (no storage IO).
PBKDF2-sha1      1744718 iterations per second for 256-bit key
PBKDF2-whirlpool     N/A
argon2id     10 iterations, 1048576 memory, 4 parallel threads (CPUs) for 256-bit key (requested)
#     Algorithm |       Key |      Encryption |      Decryption
        aes-cbc        128b      1124.7 MiB/s      2228.8 MiB/s
[  108.412820] random: cryptsetup: uninitialized urandom read (16 bytes read)
    serpent-cbc        128b               N/A               N/A
        aes-xts        512b      1889.6 MiB/s      1.9 GiB/s
"""


def rates(text: str, status: int | None = None) -> dict[str, float | None]:
    return {
        sample.algorithm: sample.rate for sample in cryptsetup_benchmark.parse(text, status=status)
    }


def test_a_row_gives_both_directions() -> None:
    assert rates(TABLE) == {
        "aes-cbc-128-encrypt": pytest.approx(1124.7 * MIB),
        "aes-cbc-128-decrypt": pytest.approx(2228.8 * MIB),
        "serpent-cbc-128-encrypt": None,
        "serpent-cbc-128-decrypt": None,
        "aes-xts-512-encrypt": pytest.approx(1889.6 * MIB),
        "aes-xts-512-decrypt": pytest.approx(1.9 * 1024 * MIB),
    }
    assert {sample.tool for sample in cryptsetup_benchmark.parse(TABLE)} == {Tool.CRYPTSETUP}


def test_not_available_is_not_zero() -> None:
    sample = next(
        item for item in cryptsetup_benchmark.parse(TABLE) if item.algorithm.startswith("serpent")
    )
    assert (sample.ended, sample.rate) == (Ended.UNSUPPORTED, None)
    assert "N/A" in sample.note


def test_recorded_output_of_one_cipher() -> None:
    text = (RECORDED / "cryptsetup-xts512.txt").read_text(encoding="utf-8")
    assert rates(text, 0).keys() == {"aes-xts-512-encrypt", "aes-xts-512-decrypt"}
    assert all(rates(text, 0).values())


@pytest.mark.parametrize(
    "row",
    [
        "aes-xts 512b 1889.6 MiB/s 1890.1 MiB/s",
        "     aes-xts   512b  1889.6 MiB/s  1890.1 MiB/s",
        "        aes-xts        512b      1889,6 MiB/s      1890,1 MiB/s",
        "        aes-xts        512b      1981.4 MB/s      1981.9 MB/s",
    ],
)
def test_blanks_commas_and_units(row: str) -> None:
    found = rates(f"#  Algorithmus | Schlüssel | Verschlüsselung | Entschlüsselung\n{row}\n")
    assert found == {
        "aes-xts-512-encrypt": pytest.approx(1889.6 * MIB, rel=1e-4),
        "aes-xts-512-decrypt": pytest.approx(1890.1 * MIB, rel=1e-4),
    }


def test_other_names() -> None:
    text = "xchacha12,aes-adiantum 256b 9 MiB/s 9 MiB/s\nchacha20-poly1305 256b 1 MiB/s 2 MiB/s"
    assert list(rates(text)) == [
        "xchacha12,aes-adiantum-256-encrypt",
        "xchacha12,aes-adiantum-256-decrypt",
        "chacha20-poly1305-256-encrypt",
        "chacha20-poly1305-256-decrypt",
    ]


@pytest.mark.parametrize("rest", ["", " ", "  1889.6 M", "        1889.6 MiB/s"])
def test_a_row_that_is_cut_off(rest: str) -> None:
    samples = cryptsetup_benchmark.parse(f"        aes-xts        512b{rest}")
    by_name = {sample.algorithm: sample for sample in samples}
    second = by_name["aes-xts-512-decrypt"]
    assert (second.rate, second.ended) == (None, Ended.INVALID)
    assert (by_name["aes-xts-512-encrypt"].rate is None) is not rest.endswith("/s")


def test_a_figure_of_zero_is_none() -> None:
    (first, second) = cryptsetup_benchmark.parse("aes-xts 512b 0.0 MiB/s 900000000.0 MiB/s\n")
    assert (first.ended, first.rate, first.note) == (Ended.INVALID, None, "the figure is zero")
    assert (second.ended, second.rate) == (Ended.INVALID, None)


def all_of(text: str, status: int | None, algorithm: str = "aes-xts-512") -> tuple[Sample, ...]:
    return cryptsetup_benchmark.parse(text, status=status, algorithm=algorithm)


def test_a_kernel_that_offers_no_ciphers() -> None:
    text = (RECORDED / "cryptsetup-refused.err").read_text(encoding="utf-8")
    samples = all_of("# Tests are approximate using memory only (no storage IO).\n" + text, 1, "")
    assert [item.algorithm for item in samples] == ["aes-xts-512-encrypt", "aes-xts-512-decrypt"]
    assert {item.ended for item in samples} == {Ended.UNSUPPORTED}
    assert "algif_skcipher" in samples[0].note


def test_a_cipher_that_the_kernel_lacks() -> None:
    samples = all_of("Cipher serpent-xts (with 512 bits key) is not available.\n", 1)
    assert samples[0].algorithm == "serpent-xts-512-encrypt"
    assert samples[0].ended is Ended.UNSUPPORTED


@pytest.mark.parametrize(
    ("text", "status", "ended", "words"),
    [
        ("Result of benchmark is not reliable.\n", 1, Ended.INVALID, "not reliable"),
        ("sh: 1: cryptsetup: not found\n", 127, Ended.FAILED, "cryptsetup is not there"),
        ("cryptsetup: Unknown action.\n", 1, Ended.FAILED, "Unknown action"),
        ("# Tests are approximate using memory only (no storage IO).\n", 0, Ended.FAILED, "no row"),
        ("# Tests are approximate using memory only (no storage IO).\n", 137, Ended.KILLED, "KILL"),
        ("Illegal instruction\n", None, Ended.ILLEGAL, "SIGILL"),
        ("", 132, Ended.ILLEGAL, "SIGILL"),
        ("", 124, Ended.LATE, "within its time"),
        ("", None, Ended.FAILED, "printed nothing"),
        ("hello\n", None, Ended.INVALID, "not what `cryptsetup benchmark` prints"),
        ("<TEST_CASE_ID=x-aes-cbc_128-encryption RESULT=pass>\n", 0, Ended.INVALID, "framework"),
    ],
)
def test_output_without_a_row(text: str, status: int | None, ended: Ended, words: str) -> None:
    for sample in all_of(text, status):
        assert (sample.ended, sample.rate) == (ended, None)
        assert words in sample.note
