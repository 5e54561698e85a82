"""Disks made byte by byte: tables and headers as their specifications lay them out."""

from __future__ import annotations

import gzip
import os
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path

from unmask.dialects.disk.medium import Extent, Medium, Read, whole

FIXTURES = Path(__file__).parents[2] / "fixtures" / "disks"
MIB = 1024 * 1024
LINUX_DATA = bytes.fromhex("af3dc60f838472478e793d69d8477de4")
BITLOCKER_GUID = bytes.fromhex("3bd66749292ed84a8399f6a339e3d001")


def unpacked(name: str) -> bytes:
    """Return a gzip'd fixture."""
    return gzip.decompress((FIXTURES / name).read_bytes())


def reader(data: bytes | bytearray) -> Read:
    return lambda offset, size: bytes(data[offset : offset + size])


def extent(data: bytes | bytearray, size: int | None = None) -> Extent:
    """Return a disk that begins with `data`; its size is that of `data` unless it is said."""
    return whole(Medium(reader(data), len(data) if size is None else size))


def of_file(path: Path) -> tuple[Read, int]:
    def read(offset: int, size: int) -> bytes:
        with path.open("rb") as file:
            return os.pread(file.fileno(), size, offset)

    return read, path.stat().st_size


def put(disk: bytearray, offset: int, data: bytes | bytearray) -> bytearray:
    """Write into a disk and return it."""
    disk[offset : offset + len(data)] = data
    return disk


def mbr_sector(*entries: tuple[int, int, int]) -> bytes:
    """Return a sector with entries of kind, first sector and number of sectors."""
    table = b"".join(struct.pack("<B3xB3xII", 0, *entry) for entry in entries)
    return bytes(446) + table.ljust(64, b"\0") + b"\x55\xaa"


def gpt(
    disk: bytearray,
    partitions: Sequence[tuple[int, int, str]],
    *,
    sector: int = 512,
    step: int = 128,
    backup: bool = False,
) -> bytearray:
    """Write a GPT with partitions from first to last sector, and its protective MBR.

    Args:
        disk: Zeros.
        partitions: First sector, last sector, name.
        sector: Bytes.
        step: Bytes of an entry.
        backup: Write the one at the end of the disk instead of the one at its start.
    """
    last = len(disk) // sector - 1
    own, other, first = (last, 1, last - 33) if backup else (1, last, 2)
    table = b"".join(
        struct.pack("<16s16sQQQ", LINUX_DATA, bytes([number] * 16), start, end, 0)
        .__add__(name.encode("utf-16-le").ljust(72, b"\0"))
        .ljust(step, b"\0")
        for number, (start, end, name) in enumerate(partitions, 1)
    ).ljust(128 * step, b"\0")
    body = (own, other, 34, last - 34, bytes(range(16)), first, 128, step, zlib.crc32(table))
    head = bytearray(struct.pack("<8sIIIIQQQQ16sQIII", b"EFI PART", 0x10000, 92, 0, 0, *body))
    put(head, 16, zlib.crc32(head).to_bytes(4, "little"))
    put(disk, 0, mbr_sector((0xEE, 1, min(last, 2**32 - 1))))
    put(disk, own * sector, head)
    return put(disk, first * sector, table)


def bitlocker(method: int, variant: str = "7", block: int = 64 * 1024) -> bytearray:
    """Return the start of a volume of BitLocker: variant "7", "vista" or "to go"."""
    disk = bytearray(256 * 1024)
    offsets = struct.pack("<16sQQQ", BITLOCKER_GUID, block, block + 64 * 1024, 192 * 1024)
    if variant == "vista":
        put(disk, 0, b"\xeb\x52\x90-FVE-FS-" + struct.pack("<HB", 512, 8))
        put(disk, 56, struct.pack("<Q", block // 4096))
    elif variant == "to go":
        put(disk, 0, b"\xeb\x58\x90MSWIN4.1" + struct.pack("<HB", 512, 8))
        put(disk, 82, b"FAT32   ")
        put(disk, 424, offsets)
    else:
        put(disk, 0, b"\xeb\x58\x90-FVE-FS-" + struct.pack("<HB", 512, 8))
        put(disk, 82, b"FAT32   ")
        put(disk, 160, offsets)
    put(disk, 510, b"\x55\xaa")
    version = 1 if variant == "vista" else 2
    metadata = struct.pack("<8sHHHHQII", b"-FVE-FS-", 80, version, 4, 4, len(disk), 0, 16)
    metadata += struct.pack("<QQQQ", block, block + 64 * 1024, 192 * 1024, 128 * 1024)
    metadata += struct.pack("<IIII16sIHHQ", 128, 1, 48, 128, bytes(16), 1, method, method, 0)
    metadata += struct.pack("<HHHH72x", 80, 3, 5, 1)  # the key, without which cryptsetup dies
    return put(disk, block, metadata)


def geli(size: int, algorithm: int, bits: int, *, version: int = 7, sector: int = 512) -> bytearray:
    """Return a GELI provider: nothing but its metadata, in the last sector."""
    head = b"GEOM::ELI".ljust(16, b"\0") + struct.pack("<IIHH", version, 0, algorithm, bits)
    if version:
        head += struct.pack("<H", 0)
    head += struct.pack("<QIBi", size, 4096, 1, 100_000)
    return put(bytearray(size), size - sector, head)


def zfs(name: str, *, version: int = 5000, offset: int = 0, size: int = 4 * MIB) -> bytearray:
    """Return a disk with one label, at an offset, that names a pool."""

    def text(word: str) -> bytes:
        data = word.encode()
        return struct.pack(">I", len(data)) + data.ljust((len(data) + 3) // 4 * 4, b"\0")

    def pair(key: str, kind: int, value: bytes) -> bytes:
        body = text(key) + struct.pack(">II", kind, 1) + value
        return struct.pack(">II", len(body) + 8, 64) + body

    listed = (
        b"\x01\x01\0\0"
        + struct.pack(">II", 0, 1)
        + pair("version", 8, struct.pack(">Q", version))
        + (pair("name", 9, text(name)) if name else b"")
        + pair("pool_guid", 8, struct.pack(">Q", 1))
        + pair("guid", 8, struct.pack(">Q", 2))
        + bytes(8)
    )
    return put(bytearray(size), offset + 16 * 1024, listed)
