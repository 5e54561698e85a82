"""What a disk holds: its partitions, or itself where it has none, and how they are encrypted."""

from __future__ import annotations

from dataclasses import replace

from unmask.dialects.disk import bitlocker, geli, luks, partitions, plain, zfs_label
from unmask.dialects.disk.medium import Extent, Medium, Read, whole
from unmask.errors import UnmaskError
from unmask.model.disk import DiskPart


def read(source: Read, size: int | None) -> tuple[DiskPart, ...]:
    """Return what a disk holds.

    Args:
        source: Reads it. At most 4 MiB are asked for, and no more than 1 MiB at once.
        size: Of the disk in bytes; None where it is not known.

    Raises:
        InputError: Its start would take more than that to be made sense of.
        UnmaskError: Its start cannot be read.
    """
    disk = whole(Medium(source, size))
    # A volume may take a whole disk, and its first sector may then look like a partition table.
    volume = _first_sector(disk)
    table = None if volume else partitions.read(disk)
    if table is None:
        return (replace(volume or _further(disk), size=size),)
    return tuple(_part(disk, entry) for entry in table)


def _part(disk: Extent, entry: partitions.Partition) -> DiskPart:
    extent = Extent(disk.medium, entry.offset, entry.size)
    try:
        found = _first_sector(extent) or _further(extent)
    except UnmaskError as error:
        found = DiskPart("", unread=str(error))
    return replace(
        found,
        number=entry.number,
        offset=entry.offset,
        size=entry.size,
        label=found.label or entry.name,
    )


def _first_sector(extent: Extent) -> DiskPart | None:
    """Return the volume whose format the first sector tells, without its place."""
    header = luks.read(extent)
    if header:
        return _luks(header)
    # Before the file systems: a volume of BitLocker To Go has a FAT32 of its own in front.
    volume = bitlocker.read(extent)
    if volume:
        return DiskPart("bitlocker", cipher=volume.method)
    kind = plain.boot_sector(extent)
    return DiskPart(kind) if kind else None


def _further(extent: Extent) -> DiskPart:
    """Return what later sectors tell, or an unknown part."""
    provider = geli.read(extent)
    if provider:
        return DiskPart("geli", cipher=provider.algorithm, key_bits=provider.key_bits)
    kind = plain.near(extent) or plain.far(extent)
    if kind:
        return DiskPart(kind)
    label = zfs_label.read(extent)
    if label:
        return DiskPart("zfs", label=label.pool)
    second = luks.second(extent)
    return _luks(second) if second else DiskPart("")


def _luks(header: luks.Luks) -> DiskPart:
    return DiskPart(
        f"luks{header.version}",
        cipher=header.cipher,
        key_bits=header.key_bits,
        label=header.label,
    )
