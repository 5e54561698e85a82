"""A guest's disks as its hypervisor sees them: what the first sectors say."""

from __future__ import annotations

from dataclasses import dataclass

from unmask.model.reading import Missing, Reading

UNREAD = Missing("its first sectors were not read")


@dataclass(frozen=True, slots=True)
class DiskPart:
    """What a partition, or a whole disk without a partition table, holds."""

    kind: str
    """"luks1", "luks2", "bitlocker", "zfs", "lvm", "ext4", "swap" ...; "" where nothing known."""
    number: int | None = None
    """Of the partition, from 1; None for the whole disk."""
    offset: int = 0
    """Bytes from the start of the disk."""
    size: int | None = None
    """Bytes."""
    cipher: str = ""
    """"aes-xts-plain64"; BitLocker's method as `unmask.model.inside_storage` writes it."""
    key_bits: int | None = None
    label: str = ""
    """The name of a ZFS pool, a LUKS label, the partition's name."""

    @property
    def encrypted(self) -> bool:
        """Return whether it surely holds ciphertext; a ZFS label does not tell."""
        return self.kind in ("luks1", "luks2", "bitlocker")


@dataclass(frozen=True, slots=True)
class HostEncryption:
    """Encryption that the host does below a guest's disk: the guest's CPU plays no part."""

    kind: str
    """"luks" (QEMU's or dm-crypt's), "zfs", "qcow" ..."""
    cipher: str = ""
    where: str = ""
    """For people: "libvirt's <encryption>", "the dataset rpool/data on pve1"."""


@dataclass(frozen=True, slots=True)
class Disk:
    """One disk of a guest."""

    name: str
    """As the configuration calls it: "scsi0", "vda"."""
    source: str = ""
    """Volume, path or URI."""
    format: str = ""
    """"raw", "qcow2"; "" where not known."""
    size: int | None = None
    """Bytes that the guest sees."""
    parts: Reading[tuple[DiskPart, ...]] = UNREAD
    encryption: tuple[HostEncryption, ...] = ()
    """On the host."""
