"""Partition tables: GPT with its backup, MBR with logical partitions.

Sources: UEFI specification 2.10, chapter 5; the MBR's layout as sfdisk and blkid read it.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from unmask.dialects.disk.medium import Extent, word

MOST_PARTITIONS = 128
SECTOR_SIZES = (512, 4096)
"""A GPT's numbers count sectors of the disk; only the place of its header tells their size."""

BOOT_SIGNATURE = b"\x55\xaa"
EXTENDED = (0x05, 0x0F, 0x85)
PROTECTIVE = 0xEE
GPT_SIGNATURE = b"EFI PART"
GPT_HEADER = struct.Struct("<8s4xII4xQQQQ16sQII4x")
"""Signature, header size, its CRC, own sector, other header's, first and last usable, GUID,
sector of the entries, number of entries, size of one; the entries' own CRC is not looked at."""
GPT_NAME = slice(56, 128)


@dataclass(frozen=True, slots=True)
class Partition:
    """One entry of a table."""

    number: int
    """From 1; logical ones from 5."""
    offset: int
    """Bytes from the start of the disk."""
    size: int
    name: str = ""


def read(disk: Extent) -> tuple[Partition, ...] | None:
    """Return the partitions in the order of their numbers; None where there is no table.

    Raises:
        InputError: Too much would have to be read.
    """
    head = disk.take(0, 512)
    if len(head) < 512 or head[510:] != BOOT_SIGNATURE:
        return None
    entries = tuple(_entries(head))
    # A file system's boot sector ends with the same signature, and has code or names there.
    if any(entry.flag not in (0, 0x80) for entry in entries):
        return None
    used = [entry for entry in entries if entry.kind and entry.sectors]
    if not used:
        return None
    if any(entry.kind == PROTECTIVE for entry in used):
        found = _gpt(disk)
        if found is not None:
            return found
    return tuple(_mbr(disk, entries))


@dataclass(frozen=True, slots=True)
class _Entry:
    flag: int
    kind: int
    start: int
    sectors: int


def _entries(sector: bytes) -> Iterator[_Entry]:
    for at in range(446, 510, 16):
        flag, kind, start, sectors = struct.unpack("<B3xB3xII", sector[at : at + 16])
        yield _Entry(flag, kind, start, sectors)


def _mbr(disk: Extent, entries: tuple[_Entry, ...]) -> Iterator[Partition]:
    chains = []
    for number, entry in enumerate(entries, 1):
        if entry.kind in EXTENDED:
            chains.append(entry.start)
        elif entry.kind and entry.kind != PROTECTIVE and entry.sectors and entry.start:
            yield Partition(number, entry.start * 512, entry.sectors * 512)
    number = 5
    for chain in chains:
        for start, sectors in _logical(disk, chain):
            yield Partition(number, start * 512, sectors * 512)
            number += 1


def _logical(disk: Extent, extended: int) -> Iterator[tuple[int, int]]:
    """Yield start and length in sectors; each link has to lie behind the one before."""
    link = extended
    for _ in range(MOST_PARTITIONS):
        sector = disk.take(link * 512, 512)
        if len(sector) < 512 or sector[510:] != BOOT_SIGNATURE:
            return
        following = 0
        for entry in list(_entries(sector))[:2]:
            if entry.kind in EXTENDED:
                following = extended + entry.start
            elif entry.kind and entry.sectors:
                yield link + entry.start, entry.sectors
        if following <= link:
            return
        link = following


def _gpt(disk: Extent) -> tuple[Partition, ...] | None:
    for sector in SECTOR_SIZES:
        found = _gpt_table(disk, sector, sector)
        if found is not None:
            return found
    for sector in SECTOR_SIZES:
        if disk.size is not None and disk.size > sector:
            found = _gpt_table(disk, disk.size - sector, sector)
            if found is not None:
                return found
    return None


def _gpt_table(disk: Extent, offset: int, sector: int) -> tuple[Partition, ...] | None:
    """Return what a header at an offset lists; None where it is none or is damaged."""
    head = disk.take(offset, 512)
    if len(head) < 512 or not head.startswith(GPT_SIGNATURE):
        return None
    _, size, checksum, own, *_, first, count, step = GPT_HEADER.unpack_from(head)
    if not 92 <= size <= 512 or own * sector != offset:
        return None
    if zlib.crc32(head[:16] + bytes(4) + head[20:size]) != checksum:
        return None
    if not 128 <= step <= 4096 or step % 8:
        return None
    table = disk.take(first * sector, min(count, MOST_PARTITIONS) * step)
    found = []
    for number in range(len(table) // step):
        entry = table[number * step : (number + 1) * step]
        start, end = struct.unpack_from("<QQ", entry, 32)
        if any(entry[:16]) and start <= end:
            name = word(_narrow(entry[GPT_NAME]))
            found.append(Partition(number + 1, start * sector, (end - start + 1) * sector, name))
    return tuple(found)


def _narrow(name: bytes) -> bytes:
    """Return UTF-16 as UTF-8."""
    return name.decode("utf-16-le", errors="replace").encode()
