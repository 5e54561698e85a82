"""The table of consumers is whole and consistent."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path as FilePath

import pytest

from unmask.cpu import data_file, features
from unmask.crypto.ciphers import FAMILIES
from unmask.crypto.consumers import Consumer, Path, Tier, arm, consumers
from unmask.crypto.versions import parse
from unmask.model.outlook import Status

TRUTH = FilePath(__file__).parents[3] / "shared/truth/consumers.json"
PATHS = [
    *((each.identity, path) for each in consumers().values() for path in each.paths.values()),
    *(("arm", path) for path in arm().values()),
]
OWN = [pytest.param(path, id=f"{name}-{path.family}") for name, path in PATHS if path.tiers]


def everything() -> Iterator[tuple[Path, Tier]]:
    return ((path, tier) for _, path in PATHS for tier in path.tiers)


@pytest.mark.parametrize("consumer", consumers().values(), ids=lambda each: each.identity)
def test_every_consumer_is_described(consumer: Consumer) -> None:
    assert consumer.name
    assert consumer.origin
    assert consumer.observe
    assert consumer.default in consumer.paths
    assert set(consumer.paths) <= set(FAMILIES)
    assert not consumer.assumed or (consumer.version_of and parse(consumer.assumed))
    assert all(text.endswith(".") for text in (*consumer.pitfalls, consumer.inferred) if text)
    for path in consumer.paths.values():
        assert bool(path.tiers) is not bool(path.uses)
        assert all(path.family in consumers()[used].paths for used in path.uses)


@pytest.mark.parametrize("path", OWN)
def test_every_ladder_ends_in_what_always_works(path: Path) -> None:
    names = [tier.name for tier in path.tiers]
    assert len(names) == len(set(names))
    assert not path.tiers[-1].flags or (path.family, path.tiers[-1].status) == (
        "chacha20",
        Status.SOFTWARE,
    )
    assert any(tier.fast for tier in path.tiers)
    for tier in path.tiers:
        assert tier.how
        assert tier.how[-1] != "."
        assert not set(tier.unasked) & set(tier.flags)
        assert not tier.fast or tier.status is not Status.PARTIAL


@pytest.mark.parametrize("path", OWN)
def test_what_is_above_the_fast_path_is_hardware_and_below_it_is_not(path: Path) -> None:
    statuses = [tier.status for tier in path.tiers]
    if Status.HARDWARE in statuses:
        last = max(index for index, tier in enumerate(path.tiers) if tier.fast)
        assert set(statuses[: last + 1]) == {Status.HARDWARE}
        padlock = {tier.status for tier in path.tiers[last + 1 :] if tier.name != "padlock"}
        assert Status.HARDWARE not in padlock


@pytest.mark.parametrize("path", OWN)
def test_figures_are_of_tiers_that_the_releases_have(path: Path) -> None:
    tiers = {tier.name: tier for tier in path.tiers}
    for figures in path.measured:
        assert figures.rates
        assert figures.release
        assert figures.where
        if not (figures.since or figures.below):
            assert not any(tiers[name].since for name in figures.rates)
            continue
        release = parse(figures.since) or (parse(figures.below)[0] - 1,)
        assert all(tiers[name].present_in(release) for name in figures.rates)


def test_flags_are_in_our_spelling() -> None:
    for _, tier in everything():
        for flag in (*tier.flags, *tier.unasked, *tier.at_load):
            assert features.known(flag), flag
            assert features.canonical(flag) == flag


def test_the_file_says_nothing_that_is_not_read() -> None:
    known = {field for kind in (Consumer, Path, Tier) for field in kind.__slots__}
    entries = data_file.read("consumers", "unmask.crypto")
    for entry in entries["consumers"].values():
        assert set(entry) <= known
        for path in entry["paths"].values():
            assert set(path) <= known
            assert all(set(tier) <= known for tier in path.get("tiers", ()))


def test_needs_are_those_of_the_fast_path() -> None:
    sodium = consumers()["libsodium"]
    assert sodium.needs("gcm") == ("aes", "pclmulqdq")
    assert sodium.needs("gcm", "1.0.22") == ("aes", "pclmulqdq", "avx")
    assert consumers()["openssl"].needs() == ("aes", "pclmulqdq")
    assert consumers()["openvpn"].needs() == ()
    assert consumers()["openssl"].needs("salsa20") == ()


TOLD = {
    "openssl-aes-block-cbc-ctr-xts": ("openssl", "ctr", ""),
    "openssl-aes-gcm": ("openssl", "gcm", ""),
    "openssl-chacha20-poly1305": ("openssl", "chacha20", ""),
    "openssl-sha": ("openssl", "sha", ""),
    "linux-crypto-xts(aes) (dm-crypt/LUKS, fscrypt)": ("linux", "xts", ""),
    "linux-crypto-gcm(aes) (IPsec rfc4106, kTLS, OpenVPN DCO, SMB3, macsec)": (
        "linux",
        "gcm",
        "",
    ),
    "linux-crypto-ctr/cbc(aes)": ("linux", "ctr", ""),
    "linux-crypto-ghash": ("linux", "ghash", ""),
    "linux-chacha20poly1305 (WireGuard, Adiantum)": ("linux", "chacha20", ""),
    "linux-sha": ("linux", "sha", ""),
    "openzfs-native-encryption-gcm": ("openzfs", "gcm", ""),
    "openzfs-native-encryption-ccm": ("openzfs", "ccm", ""),
    "go-crypto-aes-gcm": ("go", "gcm", ""),
    "go-chacha20poly1305": ("go", "chacha20", ""),
    "go-sha256": ("go", "sha", ""),
    "java-hotspot": ("java", "gcm", ""),
    "boringssl": ("boringssl", "gcm", ""),
    "aws-lc / aws-lc-rs": ("aws-lc", "gcm", ""),
    "ring (rustls-ring)": ("ring", "gcm", ""),
    "nss (Firefox, RHEL tools)": ("nss", "gcm", ""),
    "gnutls": ("gnutls", "gcm", ""),
    "libgcrypt": ("libgcrypt", "gcm", ""),
    "wolfssl": ("wolfssl", "gcm", ""),
    "mbedtls": ("mbedtls", "gcm", ""),
    "libsodium-aes256gcm": ("libsodium", "gcm", "1.0.22"),
    "libsodium-chacha20poly1305": ("libsodium", "chacha20", ""),
    "openvpn-userspace": ("openssl", "gcm", ""),
    "strongswan": ("strongswan", "gcm", ""),
    "freebsd-aesni(4) (pfSense, OPNsense IPsec, geli, ZFS on FreeBSD)": ("freebsd", "gcm", ""),
    "pfsense/opnsense userland": ("openssl", "gcm", ""),
    "windows-cng-symcrypt (BCrypt, SChannel, BitLocker: inferred)": ("windows", "gcm", ""),
    "restic": ("go", "ctr", ""),
    "borg 1.x": ("openssl", "ctr", ""),
    "kopia": ("go", "gcm", ""),
    "rclone crypt": ("rclone", "salsa20", ""),
    "gocryptfs": ("gocryptfs", "gcm", ""),
    "via-padlock-openssl": ("padlock-openssl", "cbc", ""),
}
"""The entry of the field study, and the path here that has to need the same."""
DIFFERENT = {
    "openssl-chacha20-poly1305": {"avx2"},
    "linux-chacha20poly1305 (WireGuard, Adiantum)": {"avx2"},
    "go-chacha20poly1305": {"avx2", "bmi2"},
    "libsodium-chacha20poly1305": {"avx2"},
}
"""More is asked for here: with SSSE3 alone, ChaCha20 does half of what it does with AVX2."""


@pytest.mark.parametrize("entry", TOLD)
def test_needs_agree_with_the_study(entry: str) -> None:
    if not TRUTH.is_file():
        pytest.skip("the study is not beside this checkout")
    told = json.loads(TRUTH.read_text(encoding="utf-8"))[entry]["needs_for_fast"]
    text = " ".join(re.sub(r"\b\S+ \(padlock_sha\)|1\.0\.22: also|GCM:", "", each) for each in told)
    wanted = {word for word in re.sub(r"\(.*?\)", "", text).replace(",", " ").split() if word}
    identity, family, version = TOLD[entry]
    consumer = consumers()[identity]
    fast = consumer.paths[family].fast(parse(version or consumer.assumed))
    assert fast
    here = {*fast.flags, *fast.unasked}
    assert here - DIFFERENT.get(entry, set()) == wanted
