"""The disks that a configuration of Proxmox VE lists."""

from __future__ import annotations

import pytest

from unmask.dialects.proxmox import conf, disks
from unmask.dialects.proxmox.disks import GuestDisk


def read(*lines: str) -> tuple[GuestDisk, ...]:
    return disks.read(conf.parse("\n".join(lines) + "\n").main.values)


def test_disks_by_key() -> None:
    found = read(
        "boot: order=scsi0;ide2",
        "scsihw: virtio-scsi-single",
        "virtio0: ceph:vm-101-disk-1,iothread=1,size=2T",
        "scsi0: local-lvm:vm-101-disk-0,discard=on,size=32G",
        "scsi10: /dev/disk/by-id/ata-X",
        "sata1: nfs:101/vm-101-disk-3.vmdk,size=512K",
        "unused0: local-lvm:vm-101-disk-7",
        "efidisk0: local-lvm:vm-101-disk-2,size=4M",
        "tpmstate0: local-lvm:vm-101-disk-4,size=4M",
        "net0: virtio=BC:24:11:00:00:01,bridge=vmbr0",
    )
    assert found == (
        GuestDisk("sata1", "nfs:101/vm-101-disk-3.vmdk", "vmdk", 512 * 1024),
        GuestDisk("scsi0", "local-lvm:vm-101-disk-0", "raw", 32 * 2**30),
        GuestDisk("scsi10", "/dev/disk/by-id/ata-X", "raw"),
        GuestDisk("virtio0", "ceph:vm-101-disk-1", "raw", 2 * 2**40),
    )


@pytest.mark.parametrize(
    "value",
    ["none,media=cdrom", "local:iso/x.iso,media=cdrom", "local:vm-1-cloudinit,media=cdrom", "none"],
)
def test_drives_without_a_disk(value: str) -> None:
    assert read(f"ide2: {value}") == ()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("local:101/a.qcow2", ("local:101/a.qcow2", "qcow2")),
        ("local:101/a.raw", ("local:101/a.raw", "raw")),
        ("lvm:vm-101-disk-0.qcow2,size=1G", ("lvm:vm-101-disk-0.qcow2", "qcow2")),
        ("local:101/a.img", ("local:101/a.img", "raw")),
        ("lvm:vm-101,format=qcow2", ("lvm:vm-101", "qcow2")),
        ("file=local:101/a.qcow2,size=1G", ("local:101/a.qcow2", "qcow2")),
        ("volume=local:101/a.qcow2", ("local:101/a.qcow2", "qcow2")),
        ("size=1G,file=local:101/a.qcow2", ("local:101/a.qcow2", "qcow2")),
    ],
)
def test_volume_and_format(value: str, expected: tuple[str, str]) -> None:
    (found,) = read(f"scsi0: {value}")
    assert (found.volume, found.format) == expected


@pytest.mark.parametrize("size", ["", "x", "-1G", "1.5G", "9" * 40])
def test_a_size_that_is_none_is_not_known(size: str) -> None:
    (found,) = read(f"scsi0: a:b,size={size}")
    assert found.size is None


def test_there_are_not_very_many() -> None:
    assert len(disks.read({f"scsi{number}": "a:b" for number in range(999)})) == disks.MOST_DISKS
