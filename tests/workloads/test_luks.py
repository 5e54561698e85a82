"""LUKS and dm-crypt volumes: each reported once, with what was seen of it."""

from __future__ import annotations

from typing import Any

import pytest

from support.visited import find, find_and_owe, guest, recorded
from support.visited import without_volumes as seen
from unmask.model.disk import Disk, DiskPart, HostEncryption
from unmask.model.finding import Confidence
from unmask.model.inside import CryptoDriver, Inside, Partial, System
from unmask.model.inside_storage import (
    BlockDevice,
    CrypttabEntry,
    DmCrypt,
    LuksHeader,
    Signature,
    VolumeKind,
)
from unmask.model.inventory import GuestState
from unmask.model.reading import Known, Missing
from unmask.model.visit import Visit
from unmask.model.workload import Activity, Workload
from unmask.workloads import luks
from unmask.workloads._volumes import MOST

XTS = "aes-xts-plain64"
DENIED = Missing("only root may read it", "root in the guest")
OPEN = DmCrypt("data", VolumeKind.LUKS2, XTS, 512)
HEADER = LuksHeader("/dev/vdb", VolumeKind.LUKS2, XTS, 512)
CRYPTTAB = CrypttabEntry("data", VolumeKind.LUKS, ("UUID=1",))
VDB = BlockDevice("vdb", "disk", "crypto_LUKS")
DATA = BlockDevice("data", "crypt", "ext4", ("/srv",), parent=0)


def volumes(
    *parts: DiskPart, state: GuestState = GuestState.RUNNING, **readings: Any
) -> list[Workload]:
    disks = (Disk("vdb", parts=Known(parts)),) if parts else ()
    found = guest(seen(**readings), state=state)
    visit = Visit(found.visit.inside, found.visit.way, disks=Known(disks))
    return find(luks, guest(visit=visit, state=state))


@pytest.mark.parametrize(
    "readings",
    [
        {"block_devices": (VDB, DATA)},
        {"dm_crypt": (OPEN,)},
        {"block_devices": (VDB, DATA), "dm_crypt": (OPEN,)},
        {"dm_crypt": (OPEN,), "luks_headers": (HEADER,), "block_devices": Missing("no lsblk")},
        {"block_devices": (VDB, DATA), "signatures": (Signature("/dev/vdb", "crypto_LUKS"),)},
        {"block_devices": (VDB, DATA), "luks_headers": (HEADER,), "crypttab": (CRYPTTAB,)},
        {"dm_crypt": (OPEN,), "crypttab": (CRYPTTAB,)},
        {
            "block_devices": (VDB, DATA),
            "dm_crypt": (OPEN,),
            "luks_headers": (HEADER,),
            "signatures": (Signature("/dev/vdb", "crypto_LUKS"),),
            "crypttab": (CRYPTTAB,),
        },
    ],
)
def test_one_open_volume_is_one_workload_whoever_tells_of_it(readings: dict[str, Any]) -> None:
    for parts in ((), (DiskPart("luks2", cipher=XTS, key_bits=512),)):
        (found,) = volumes(*parts, **readings)
        assert (found.name, found.activity) == ("data", Activity.ACTIVE)
        assert found.confidence is Confidence.CERTAIN
        assert found.evidence


@pytest.mark.parametrize(
    ("readings", "activity"),
    [
        ({"block_devices": (VDB,)}, Activity.CLOSED),
        ({"signatures": (Signature("/dev/vdb", "crypto_LUKS"),)}, Activity.CLOSED),
        ({"luks_headers": (HEADER,)}, Activity.CLOSED),
        ({"block_devices": (VDB,), "crypttab": (CRYPTTAB,)}, Activity.CLOSED),
        ({"crypttab": (CRYPTTAB,)}, Activity.CONFIGURED),
        (
            {
                "luks_headers": (HEADER,),
                "dm_crypt": Missing("no /sys"),
                "block_devices": DENIED,
            },
            Activity.CONFIGURED,
        ),
    ],
)
def test_one_volume_that_is_not_open(readings: dict[str, Any], activity: Activity) -> None:
    found, _ = find_and_owe(luks, guest(seen(**readings)))
    assert [(item.activity, item.confidence) for item in found] == [(activity, Confidence.FIRM)]


def test_the_host_tells_the_cipher_that_only_root_may_read_inside() -> None:
    (found,) = volumes(
        DiskPart("luks2", cipher="aes-cbc-essiv:sha256", key_bits=256),
        block_devices=(VDB, DATA),
        root=False,
    )
    assert found.cipher == "aes-cbc-essiv:sha256"
    assert found.confidence is Confidence.FIRM
    assert found.evidence[-1] == ("The host sees on vdb: LUKS2, aes-cbc-essiv:sha256, 256-bit key.")


def test_without_any_cipher_the_default_is_taken_and_said() -> None:
    partial = Partial("dm_crypt", "without root it lacks the ciphers", "root in the guest")
    (found,) = volumes(block_devices=(VDB, DATA), root=False, partial=(partial,))
    assert found.cipher == ""
    assert "aes-xts, the default, is taken" in " ".join(found.evidence)
    assert "needs root in the guest" in found.evidence[-1]


def test_volumes_that_differ_stay_apart() -> None:
    found = volumes(
        DiskPart("luks1", number=1, cipher=XTS, key_bits=256),
        DiskPart("luks2", number=2, cipher=XTS, key_bits=512),
        DiskPart("luks2", number=3, cipher="serpent-xts-plain64", key_bits=512),
        DiskPart("ext4", number=4),
        luks_headers=(HEADER,),
        dm_crypt=(DmCrypt("swap", VolumeKind.PLAIN, XTS, 256),),
    )
    assert sorted((item.name, item.cipher) for item in found) == [
        ("swap", XTS),
        ("vdb", XTS),
        ("vdb, partition 1", XTS),
        ("vdb, partition 3", "serpent-xts-plain64"),
    ]


def test_the_part_with_the_devices_own_name_is_the_one() -> None:
    devices = tuple(BlockDevice(f"vdb{number}", "part", "crypto_LUKS") for number in (1, 2))
    found = volumes(
        DiskPart("luks2", number=2, cipher="aes-xts-plain64", key_bits=256),
        block_devices=devices,
    )
    ciphers = {item.name: item.cipher for item in found}
    assert ciphers == {"vdb1": "", "vdb2": "aes-xts-plain64"}


def test_a_stopped_guest_shows_what_the_host_sees() -> None:
    disk = Disk("scsi1", parts=Known((DiskPart("luks2", 2, cipher=XTS, key_bits=512),)))
    found = find(luks, guest(visit=Visit(disks=Known((disk,))), state=GuestState.STOPPED))
    assert [(item.name, item.detail, item.activity, item.confidence) for item in found] == [
        ("scsi1, partition 2", "LUKS2, 512-bit key", Activity.CONFIGURED, Confidence.FIRM)
    ]
    assert found[0].evidence == (
        "The host sees on scsi1, partition 2: LUKS2, aes-xts-plain64, 512-bit key.",
    )


def test_what_the_host_encrypts_is_the_hosts() -> None:
    below = HostEncryption("luks", XTS, "libvirt's <encryption>")
    disk = Disk("vda", parts=Known((DiskPart("luks1", cipher=XTS),)), encryption=(below,))
    pool = Disk("vdb", encryption=(HostEncryption("zfs", "aes-256-gcm"),))
    (found,) = find(luks, guest(visit=Visit(disks=Known((disk, pool)))))
    assert (found.name, found.host_side, found.activity) == ("vda", True, Activity.ACTIVE)
    (said,) = found.evidence
    assert said.startswith(f"On the host, libvirt's <encryption> encrypts vda with {XTS}: ")


def test_a_header_left_over_on_a_partitioned_disk_is_no_volume() -> None:
    (found,) = volumes(
        block_devices=(
            BlockDevice("sda", "disk", "crypto_LUKS"),
            BlockDevice("sda1", "part", "crypto_LUKS", parent=0),
        ),
        signatures=(Signature("/dev/sda", "crypto_LUKS"),),
    )
    assert found.name == "sda1"


def test_a_volume_below_a_raid_is_shown_twice_and_is_one() -> None:
    raid = [
        BlockDevice("sda", "disk"),
        BlockDevice("md0", "raid1", "crypto_LUKS", parent=0),
        BlockDevice("data", "crypt", "ext4", ("/srv",), parent=1),
        BlockDevice("sdb", "disk"),
        BlockDevice("md0", "raid1", "crypto_LUKS", parent=3),
        BlockDevice("data", "crypt", "ext4", ("/srv",), parent=4),
    ]
    (found,) = volumes(block_devices=tuple(raid))
    assert found.detail == "LUKS on md0, mounted at /srv"


def test_integrity_below_a_volume_is_no_second_one() -> None:
    (found,) = volumes(
        block_devices=(
            VDB,
            BlockDevice("data_dif", "crypt", parent=0),
            BlockDevice("data", "crypt", "ext4", ("/srv",), parent=1),
        )
    )
    assert found.detail.startswith("LUKS on vdb")


def test_lvm_in_a_volume_is_mounted_through_it() -> None:
    (found,) = volumes(
        block_devices=(
            VDB,
            BlockDevice("data", "crypt", "LVM2_member", parent=0),
            BlockDevice("vg-root", "lvm", "ext4", ("/",), parent=1),
            BlockDevice("vg-swap", "lvm", "swap", (), parent=1),
        )
    )
    assert found.detail == "LUKS on vdb, mounted at /"


def test_a_file_in_crypttab_is_not_taken_for_a_disk() -> None:
    found = volumes(
        block_devices=(VDB,),
        crypttab=(CrypttabEntry("backup", VolumeKind.LUKS, ("/srv/backup.img",)),),
    )
    assert sorted(item.name for item in found) == ["backup", "vdb"]


def test_bitlocker_and_veracrypt_are_reported_under_their_own_kinds() -> None:
    assert (
        volumes(
            dm_crypt=(
                DmCrypt("win", VolumeKind.BITLOCKER, XTS, 256),
                DmCrypt("veracrypt1", VolumeKind.VERACRYPT, XTS, 512),
            ),
            signatures=(Signature("/dev/vdc", "BitLocker"),),
        )
        == []
    )


def test_the_driver_is_said_and_unknown_drivers_do_no_harm() -> None:
    drivers = (CryptoDriver("xts(aes)", "xts-aes-aesni", priority=401),)
    (found,) = volumes(dm_crypt=(OPEN,), crypto_drivers=drivers)
    assert (found.driver, found.version) == ("xts-aes-aesni", "6.1.0-50-cloud-amd64")
    (other,) = volumes(dm_crypt=(OPEN,), crypto_drivers=DENIED)
    assert other.driver == ""


def test_nobody_looked_and_nothing_is_owed() -> None:
    assert find_and_owe(luks, guest()) == ([], "")


def test_windows_is_not_asked_for_luks() -> None:
    asked = Inside(system=Known(System("Windows")), bitlocker=Known(()))
    assert find_and_owe(luks, guest(asked)) == ([], "")


def test_a_guest_that_claims_thousands_is_not_believed() -> None:
    many = tuple(DmCrypt(f"m{number}", VolumeKind.LUKS2, XTS) for number in range(5000))
    crypttab = tuple(
        CrypttabEntry(f"c{number}", VolumeKind.LUKS, (f"UUID={number}",)) for number in range(5000)
    )
    found, said = find_and_owe(luks, guest(seen(dm_crypt=many, crypttab=crypttab)))
    assert len(found) == MOST
    assert "200 encrypted volumes or more" in said


def test_an_old_lsblk_that_draws_a_tree_tells_enough() -> None:
    tree = recorded("block_devices", "old tree: LUKS on a partition under LVM")
    (found,) = volumes(block_devices=tree, root=False)
    assert (found.name, found.activity) == ("luks-1234", Activity.ACTIVE)
    assert "mounted at /" in found.detail
