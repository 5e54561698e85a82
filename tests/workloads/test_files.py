"""File-level encryption: whose code does it, and where."""

from __future__ import annotations

from typing import Any

import pytest

from support.visited import case, find, find_and_owe, guest, without_volumes
from unmask.model.finding import Confidence
from unmask.model.inside import CryptoDriver, Inside, System
from unmask.model.inside_programs import OpenSsl
from unmask.model.inside_storage import DmCrypt, FileEncryption, VolumeKind
from unmask.model.reading import Known, Missing
from unmask.model.workload import Activity, Workload
from unmask.workloads import files

DRIVERS = (
    CryptoDriver("cbc(aes)", "cbc-aes-aesni", priority=400),
    CryptoDriver("xts(aes)", "xts-aes-aesni", priority=401),
)


def found(*items: FileEncryption, **readings: Any) -> list[Workload]:
    seen = without_volumes(file_encryption=items, crypto_drivers=DRIVERS, **readings)
    return find(files, guest(seen))


@pytest.mark.parametrize(
    ("kind", "consumer", "cipher", "driver"),
    [
        ("gocryptfs", "gocryptfs", "", ""),
        ("ecryptfs", "linux", "aes-cbc", "cbc-aes-aesni"),
        ("encfs", "openssl", "aes-256-cbc", ""),
        ("cryfs", "", "", ""),
        ("securefs", "", "", ""),
        ("rclone", "rclone", "", ""),
        ("veracrypt", "dm-crypt", "aes-xts-plain64", "xts-aes-aesni"),
    ],
)
def test_whose_code_encrypts(kind: str, consumer: str, cipher: str, driver: str) -> None:
    (item,) = found(FileEncryption(kind, "/srv/secret", "/srv/.secret"))
    assert (item.name, item.consumer, item.cipher, item.driver) == (
        "/srv/secret",
        consumer,
        cipher,
        driver,
    )
    assert item.activity is Activity.ACTIVE
    unsure = kind in ("rclone", "veracrypt")
    assert item.confidence is (Confidence.TENTATIVE if unsure else Confidence.CERTAIN)


def test_fscrypt_is_set_up_and_no_more_was_seen() -> None:
    (item,) = found(FileEncryption("fscrypt", "/home"))
    assert (item.consumer, item.activity, item.confidence) == (
        "dm-crypt",
        Activity.CONFIGURED,
        Confidence.FIRM,
    )
    assert "which folders it encrypts was not looked for" in item.evidence[0]
    assert item.driver == "xts-aes-aesni"


def test_ecryptfs_names_its_cipher() -> None:
    (item,) = found(FileEncryption("ecryptfs", "/home/a", cipher="blowfish", key_bits=128))
    assert (item.cipher, item.detail, item.driver) == (
        "blowfish-cbc",
        "eCryptfs, 128-bit key",
        "",
    )


def test_encfs_takes_the_guests_openssl() -> None:
    item = FileEncryption("encfs", "/srv")
    assert [work.version for work in found(item, openssl=OpenSsl("OpenSSL 3.0.20"))] == [
        "OpenSSL 3.0.20"
    ]
    assert [work.version for work in found(item, openssl=OpenSsl("LibreSSL 3.8.2"))] == [""]


def test_a_veracrypt_volume_and_its_mount_are_one() -> None:
    mapping = DmCrypt("veracrypt1", VolumeKind.VERACRYPT, "aes-xts-plain64", 512)
    mount = FileEncryption("veracrypt", "/tmp/.veracrypt_aux_mnt1")
    (item,) = found(mount, dm_crypt=(mapping,))
    assert (item.name, item.consumer, item.confidence) == (
        "veracrypt1",
        "dm-crypt",
        Confidence.CERTAIN,
    )
    assert len(found(mount, mount, dm_crypt=(mapping,))) == 2


def test_verdicts() -> None:
    kinds = ("gocryptfs", "rclone", "cryfs")
    seen = without_volumes(
        file_encryption=tuple(FileEncryption(kind, f"/{kind}") for kind in kinds)
    )
    assert {item.workload.name: item.status for item in case(guest(seen)).workloads} == {
        "/gocryptfs": "software",
        "/rclone": "not-affected",
        "/cryfs": "unknown",
    }


def test_what_was_not_read_is_owed_by_linux() -> None:
    late = Missing("the command in the guest did not end in time")
    seen = without_volumes(file_encryption=late)
    assert find_and_owe(files, guest(seen))[1] == f"{late.reason} ()"
    other = Inside(system=Known(System("FreeBSD")), file_encryption=late)
    assert find_and_owe(files, guest(other)) == ([], "")
    assert find_and_owe(files, guest()) == ([], "")
