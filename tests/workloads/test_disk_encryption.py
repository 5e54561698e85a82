"""The kernel's driver of a volume's cipher, and what could not be looked for."""

from __future__ import annotations

from typing import Any

import pytest

from support.visited import find_and_owe, guest, inside
from support.visited import without_volumes as seen
from unmask.model.disk import Disk, DiskPart, HostEncryption
from unmask.model.inside import CryptoDriver, System
from unmask.model.inside_storage import BlockDevice
from unmask.model.reading import Known, Missing
from unmask.model.visit import Visit, Way
from unmask.workloads import luks
from unmask.workloads._disk_encryption import serving

XTS = "aes-xts-plain64"
DENIED = Missing("only root may read it", "root in the guest")


@pytest.mark.parametrize(
    ("cipher", "algorithm"),
    [
        (XTS, "xts(aes)"),
        ("aes-cbc-essiv:sha256", "cbc(aes)"),
        ("serpent-xts-plain64", "xts(serpent)"),
        ("capi:gcm(aes)-random", "gcm(aes)"),
        ("capi:authenc(hmac(sha256),xts(aes))-random", "xts(aes)"),
        ("xchacha20,aes-adiantum-plain64", None),
        ("capi:(((", None),
        ("", None),
    ],
)
def test_the_driver_of_a_cipher(cipher: str, algorithm: str | None) -> None:
    names = ("xts(aes)", "cbc(aes)", "xts(serpent)", "gcm(aes)")
    drivers = tuple(CryptoDriver(name, f"driver of {name}") for name in names)
    found = serving(inside(crypto_drivers=drivers), cipher)
    assert (found.algorithm if found else None) == algorithm


@pytest.mark.parametrize(
    ("readings", "owed"),
    [
        (
            {"block_devices": Missing("no lsblk"), "signatures": DENIED, "luks_headers": DENIED},
            "only root may read it (root in the guest)",
        ),
        (
            {"block_devices": Missing("no lsblk"), "dm_crypt": Missing("no /sys")},
            "no /sys ()",
        ),
        ({"block_devices": Missing("no lsblk"), "signatures": DENIED}, ""),
        ({"crypttab": DENIED}, ""),
        (
            {
                "system": System("FreeBSD"),
                "block_devices": Missing("no lsblk"),
                "dm_crypt": Missing("no /sys"),
            },
            "",
        ),
    ],
)
def test_what_could_not_be_looked_for(readings: dict[str, Any], owed: str) -> None:
    found, said = find_and_owe(luks, guest(seen(**readings)))
    assert (found, said) == ([], owed)


@pytest.mark.parametrize(
    ("disk", "owed"),
    [
        (Disk("vda", parts=Missing("no permission", "root")), "vda: no permission (root)"),
        (
            Disk("vda", parts=Known((DiskPart("ext4", 1), DiskPart("", 2, unread="too far")))),
            "vda, partition 2: too far ()",
        ),
        (Disk("vda", parts=Missing("ciphertext"), encryption=(HostEncryption("luks"),)), ""),
        (Disk("vda", parts=Known(())), ""),
    ],
)
def test_a_disk_that_nobody_could_read(disk: Disk, owed: str) -> None:
    sight = Visit(disks=Known((Disk("vdb", parts=Known(())), disk)))
    assert find_and_owe(luks, guest(visit=sight))[1] == owed
    entered = Visit(Known(seen()), Way.SSH, disks=sight.disks)
    assert find_and_owe(luks, guest(visit=entered))[1] == ""


def test_parents_that_are_no_devices_count_for_none() -> None:
    devices = tuple(
        BlockDevice(name, "crypt", "crypto_LUKS", parent=parent)
        for name, parent in (("itself", 0), ("far", 99), ("below", -1), ("turn_dif", 3))
    )
    found, _ = find_and_owe(luks, guest(seen(block_devices=devices)))
    assert {item.name for item in found} == {"itself", "far", "below", "turn_dif"}
