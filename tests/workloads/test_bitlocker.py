"""BitLocker volumes of Windows, on disks that only the host sees, and under Linux."""

from __future__ import annotations

import pytest

from support.visited import find, find_and_owe, guest, recorded, without_volumes
from unmask.model.disk import Disk, DiskPart
from unmask.model.finding import Confidence
from unmask.model.inside import Inside, System
from unmask.model.inside_storage import (
    BitLockerVolume,
    CrypttabEntry,
    DmCrypt,
    Signature,
    VolumeKind,
)
from unmask.model.inventory import Guest
from unmask.model.reading import Known, Missing
from unmask.model.visit import Visit, Way
from unmask.model.workload import Activity
from unmask.workloads import bitlocker

WINDOWS = System("Windows", kernel="10.0.20348", ident="windows")
XTS = "XTS-AES-128"


def windows(*volumes: BitLockerVolume, parts: tuple[DiskPart, ...] = ()) -> Guest:
    """Return a Windows guest that was asked for its volumes."""
    seen = Inside(root=True, system=Known(WINDOWS), bitlocker=Known(volumes))
    disks = Known((Disk("scsi0", parts=Known(parts)),))
    return guest(visit=Visit(Known(seen), Way.AGENT, disks=disks))


def test_a_volume_of_windows() -> None:
    part = DiskPart("bitlocker", 3, cipher=XTS)
    volume = BitLockerVolume("C:", XTS, "encrypted", protected=True, locked=False)
    (found,) = find(bitlocker, windows(volume, parts=(part,)))
    assert (found.name, found.consumer, found.cipher) == ("C:", "windows", XTS)
    assert (found.activity, found.confidence) == (Activity.ACTIVE, Confidence.CERTAIN)
    assert found.version == "10.0.20348"
    assert found.evidence == (
        "Windows says that C: is encrypted with XTS-AES-128.",
        "The host sees BitLocker on scsi0, partition 3.",
    )


def test_volumes_of_a_recording() -> None:
    volumes = recorded("windows_bitlocker", "encrypted, not encrypted, locked")
    found = find(bitlocker, windows(*volumes))
    assert [(item.name, item.cipher, item.activity) for item in found] == [
        ("C:", XTS, Activity.ACTIVE),
        ("\\\\?\\Volume{2}\\", "AES-CBC-256", Activity.CLOSED),
    ]


@pytest.mark.parametrize(
    ("volume", "activity"),
    [
        (BitLockerVolume("D:", XTS, "encrypted", locked=True), Activity.CLOSED),
        (BitLockerVolume("D:", XTS, "paused", protected=False), Activity.ACTIVE),
        (BitLockerVolume("D:", "AES-CBC-256", "decrypting"), Activity.ACTIVE),
        (BitLockerVolume("D:", "", "encrypted"), Activity.ACTIVE),
    ],
)
def test_states(volume: BitLockerVolume, activity: Activity) -> None:
    (found,) = find(bitlocker, windows(volume))
    assert found.activity is activity
    assert (found.confidence is Confidence.CERTAIN) is bool(volume.method and not volume.locked)


def test_what_is_not_encrypted_is_no_workload() -> None:
    assert find(bitlocker, windows(BitLockerVolume("E:", "none", "decrypted"))) == []
    assert find(bitlocker, windows(BitLockerVolume("E:", "", ""))) == []


def test_the_drive_encrypts_by_itself() -> None:
    (found,) = find(bitlocker, windows(BitLockerVolume("C:", "hardware", "encrypted")))
    assert found.host_side


def test_a_part_that_windows_does_not_name() -> None:
    parts = (DiskPart("bitlocker", 1, cipher="AES-CBC-128"), DiskPart("ntfs", 2))
    found = find(bitlocker, windows(BitLockerVolume("C:", XTS, "encrypted"), parts=parts))
    assert [(item.name, item.activity) for item in found] == [
        ("C:", Activity.ACTIVE),
        ("scsi0, partition 1", Activity.CONFIGURED),
    ]


def test_a_guest_that_nobody_entered() -> None:
    disk = Disk("scsi0", parts=Known((DiskPart("bitlocker", 3, cipher=XTS, key_bits=128),)))
    (found,) = find(bitlocker, guest(visit=Visit(disks=Known((disk,)))))
    assert (found.name, found.consumer, found.cipher) == ("scsi0, partition 3", "windows", XTS)
    assert found.activity is Activity.CONFIGURED


def test_linux_opens_it_by_dm_crypt() -> None:
    seen = without_volumes(
        dm_crypt=(DmCrypt("win", VolumeKind.BITLOCKER, "aes-xts-plain64", 256),),
        signatures=(Signature("/dev/vdb3", "BitLocker"),),
        crypttab=(CrypttabEntry("win", VolumeKind.BITLOCKER, ("UUID=1",)),),
        block_devices=Missing("no lsblk"),
    )
    (found,) = find(bitlocker, guest(seen))
    assert (found.name, found.consumer) == ("win", "dm-crypt")
    assert (found.activity, found.detail) == (
        Activity.ACTIVE,
        "BitLocker on vdb3, 256-bit key",
    )


def test_what_windows_did_not_tell_is_owed() -> None:
    denied = Missing("only root may read it", "an administrator's rights in the guest")
    asked = Inside(system=Known(WINDOWS), bitlocker=denied)
    assert find_and_owe(bitlocker, guest(asked))[1] == (
        "only root may read it (an administrator's rights in the guest)"
    )
    disk = Disk("scsi0", parts=Known((DiskPart("bitlocker", 3),)))
    seen = guest(visit=Visit(Known(asked), Way.AGENT, disks=Known((disk,))))
    found, owed = find_and_owe(bitlocker, seen)
    assert [item.name for item in found] == ["scsi0, partition 3"]
    assert owed


def test_nobody_looked() -> None:
    assert find_and_owe(bitlocker, guest()) == ([], "")


def test_a_volume_that_the_host_sees_in_the_clear_is_none() -> None:
    assert find(bitlocker, windows(parts=(DiskPart("bitlocker", 3, cipher="none"),))) == []
