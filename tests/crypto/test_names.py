"""Ciphers, versions, drivers and sentences: text in, facts out, and back."""

from __future__ import annotations

import pytest

from support.feature_views import of_model, view
from unmask.crypto.ciphers import FAMILIES, family
from unmask.crypto.consumers import consumers
from unmask.crypto.drivers import confirmed, meaning
from unmask.crypto.outlook import judge
from unmask.crypto.sentence import percent, sentence
from unmask.crypto.versions import parse, within
from unmask.model.cpu import Accelerator, State
from unmask.model.outlook import NoteKind, Status


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("", ""),
        ("on", ""),
        ("AES", ""),
        ("aes-256", ""),
        ("aes-xts-plain64", "xts"),
        ("capi:xts(aes)-plain64", "xts"),
        ("XTS-AES 256", "xts"),
        ("aes-cbc-essiv:sha256", "cbc"),
        ("AES 128 with Diffuser (elephant)", "cbc"),
        ("aes-256-gcm", "gcm"),
        ("aes256-gcm@openssh.com", "gcm"),
        ("ECDHE-RSA-AES128-GCM-SHA256", "gcm"),
        ("TLS_AES_128_CCM_SHA256", "ccm"),
        ("ECDHE-RSA-AES256-SHA384", "cbc"),
        ("AES128-SHA", "cbc"),
        ("aes256-sha256-modp2048", "cbc"),
        ("TLS_CHACHA20_POLY1305_SHA256", "chacha20"),
        ("xchacha12,aes-adiantum-plain64", "chacha20"),
        ("rfc4106(gcm(aes))", "gcm"),
        ("aes256-ctr", "ctr"),
        ("SHA256", "sha"),
        ("hmac-sha2-256", "sha"),
        ("serpent-xts-plain64", "other"),
        ("DES-CBC3-SHA", "other"),
        ("ARIA256-GCM-SHA384", "relative"),
        ("camellia-xts-plain64", "relative"),
        ("aegis128-random", "aegis"),
        ("BF-CBC", "other"),
        ("NULL", "other"),
        ("aes_gcm256-null", "gcm"),
        ("cipher_null-ecb", "other"),
        ("ecb(cipher_null)", "other"),
        ("NULL-SHA256", "other"),
        ("none", "other"),
        ("speck128-xts-plain64", "other"),
        ("AES128-GCM-SHA256:!eNULL:!NULL", "gcm"),
        ("variant", "unrecognised"),
        ("x" * 100000, "unrecognised"),
    ],
)
def test_families(written: str, expected: str) -> None:
    assert family(written) == expected


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_is_its_own_name(name: str) -> None:
    assert family(name) == name


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("3.0.20-1~deb12u2", (3, 0, 20)),
        ("OpenSSL 1.1.1w  11 Sep 2023", (1, 1, 1)),
        ("go1.24.4", (1, 24, 4)),
        ("1:9.2p1-2", (9, 2)),
        ("zfs-2.2.4-pve1", (2, 2, 4)),
        ("6.12.107+deb13-amd64", (6, 12, 107)),
        ("", ()),
        ("unknown", ()),
        ("9" * 5000, (999999999,)),
    ],
)
def test_versions(written: str, expected: tuple[int, ...]) -> None:
    assert parse(written) == expected


def test_limits_of_versions() -> None:
    assert within((), "", "") is True
    assert within((), "1", "") is None
    assert within((), "", "1") is None
    assert within((3, 1), "3.1", "") is True
    assert within((3, 0, 20), "3.1", "") is False
    assert within((3, 1), "", "3.1") is False
    assert within((1, 0, 18), "", "1.0.19") is True


@pytest.mark.parametrize(
    ("driver", "expected"),
    [
        ("xts-aes-aesni", Status.HARDWARE),
        ("xts-aes-vaes-avx2", Status.HARDWARE),
        ("cryptd(__xts-aes-aesni)", Status.HARDWARE),
        ("rfc4106-gcm-aesni", Status.HARDWARE),
        ("generic-gcm-aesni", Status.HARDWARE),
        ("generic-gcm-vaes-avx10_512", Status.HARDWARE),
        ("ghash-clmulni", Status.HARDWARE),
        ("sha256-ni", Status.HARDWARE),
        ("cbc-aes-padlock", Status.HARDWARE),
        ("xts-aes-ce", Status.HARDWARE),
        ("xts(ecb(aes-generic))", Status.SOFTWARE),
        ("xts(ecb(aes-fixed-time))", Status.SOFTWARE),
        ("gcm_base(ctr(aes-generic),ghash-generic)", Status.SOFTWARE),
        ("gcm_base(ctr(aes-generic),ghash-clmulni)", Status.PARTIAL),
        ("xts-aes-neonbs", Status.SOFTWARE),
        ("chacha20-generic", Status.SOFTWARE),
        ("chacha20-simd", Status.UNKNOWN),
        ("aes-lib", Status.UNKNOWN),
        ("xts(ecb(aes-lib))", Status.UNKNOWN),
        ("something", Status.UNKNOWN),
        ("", Status.UNKNOWN),
    ],
)
def test_drivers(driver: str, expected: Status) -> None:
    assert meaning(driver) is expected


def test_a_flag_that_is_shown_and_not_used() -> None:
    shown = judge(consumers()["dm-crypt"], of_model("SapphireRapids"))
    assert shown.status is Status.HARDWARE
    real = confirmed(shown, "xts(ecb(aes-fixed-time))")
    assert (real.status, real.missing, real.factor) == (Status.SOFTWARE, (), None)
    (note,) = real.noted(NoteKind.UNUSED)
    assert "xts(ecb(aes-fixed-time))" in note.text


def test_a_driver_settles_what_flags_leave_open() -> None:
    unsure = judge(consumers()["dm-crypt"], view(rest=State.UNKNOWN))
    assert confirmed(unsure, "xts-aes-aesni").status is Status.HARDWARE
    assert not confirmed(unsure, "xts-aes-aesni").noted(NoteKind.UNUSED)
    assert confirmed(unsure, "xts-aes-lib") is unsure
    emulated = judge(consumers()["dm-crypt"], of_model("Haswell", accelerator=Accelerator.TCG))
    assert confirmed(emulated, "xts-aes-aesni") is emulated


@pytest.mark.parametrize("driver", ["xts-aes-lib", "xts(ecb(aes-lib))"])
def test_the_kernels_library_for_aes_rules_the_fast_drivers_out(driver: str) -> None:
    shown = judge(consumers()["dm-crypt"], of_model("Haswell"), version="7.3.4")
    assert shown.status is Status.HARDWARE
    real = confirmed(shown, driver)
    assert (real.status, real.missing, real.better) == (Status.UNKNOWN, (), ())
    assert [driver in note.text for note in real.noted(NoteKind.UNDECIDED)] == [True]
    hidden = judge(consumers()["dm-crypt"], of_model("kvm64"), version="7.3.4")
    assert confirmed(hidden, driver) is hidden


def test_sentences() -> None:
    def said(model: str, consumer: str) -> str:
        return sentence(judge(consumers()[consumer], of_model(model)))

    assert said("x86-64-v3", "openssl") == (
        "lacks pclmulqdq: AES-NI, with GHASH from a table (10 % of the speed)"
    )
    assert said("x86-64-v3", "openzfs").endswith("(0.7 % of the speed)")
    assert said("Haswell", "openssl") == "has what it needs"
    assert said("kvm64", "dm-crypt") == "lacks aes: AES in software"
    assert said("kvm64", "rclone").startswith("XSalsa20-Poly1305")
    assert [percent(share) for share in (1.0, 0.1038, 0.0099, 0.007)] == [
        "100 %",
        "10 %",
        "1.0 %",
        "0.7 %",
    ]
