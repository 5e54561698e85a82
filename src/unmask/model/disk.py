"""A guest's disks as its hypervisor sees them: what the first sectors say."""

from __future__ import annotations

from dataclasses import dataclass

from unmask.model.reading import Missing, Reading

UNREAD = Missing("its first sectors were not read")

ENCRYPTED = ("luks1", "luks2", "bitlocker", "geli")
"""Formats of volumes whose header says that they are encrypted."""
UNENCRYPTED = ("none", "NULL", "cipher_null")
"""What such a header names as cipher where they are not: BitLocker, GELI, LUKS."""


@dataclass(frozen=True, slots=True)
class DiskPart:
    """What a partition, or a whole disk without a partition table, holds."""

    kind: str
    """"luks1", "luks2", "bitlocker", "geli", "zfs", "lvm", "ext4", "swap" ...; "" where nothing
    known is seen: no data, or what has no header (plain dm-crypt, VeraCrypt)."""
    number: int | None = None
    """Of the partition, from 1; None for the whole disk."""
    offset: int = 0
    """Bytes from the start of the disk."""
    size: int | None = None
    """Bytes."""
    cipher: str = ""
    """"aes-xts-plain64"; BitLocker's method and GELI's algorithm as `unmask.model.inside_storage`
    writes them ("XTS-AES-128", "AES-XTS")."""
    key_bits: int | None = None
    """As the header has it: of LUKS's volume key, half of which is for AES with XTS; of GELI's
    algorithm. BitLocker's method says it itself."""
    label: str = ""
    """The name of a ZFS pool, a LUKS label, the partition's name."""
    unread: str = ""
    """Why it was not looked at, although the partition table was read; its kind is "" then."""

    @property
    def encrypted(self) -> bool:
        """Return whether it surely holds ciphertext; a ZFS label does not tell."""
        return self.kind in ENCRYPTED and not self.cipher.startswith(UNENCRYPTED)


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
