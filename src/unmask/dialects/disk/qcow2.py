"""qcow2 images, read-only and by hand: which bytes of the file are which bytes of the disk.

QEMU's own programs open what an image's header names, backing and data files, which can be any
file of the host; they have to be where the image is; and they need `-U` beside a guest that runs.
This reader is handed bytes by whoever can read the file, takes no lock, and opens nothing. What it
cannot read (another file's clusters, zstd, encryption) is an `InputError`, never zeros.
`qemu-img` is the oracle of its tests.

Source: docs/interop/qcow2.txt of QEMU 9.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from unmask.dialects.disk import luks
from unmask.dialects.disk.medium import FARTHEST, MOST, Extent, Medium, Read, word
from unmask.errors import InputError
from unmask.model.disk import HostEncryption

MAGIC = b"QFI\xfb"
HEADER = struct.Struct(">4sIQIIQIIQ")
"""Magic, version, backing file's offset and size, cluster bits, size, encryption, L1's size and
offset."""
CORRUPT, EXTERNAL_DATA, EXTENDED_L2 = 0x2, 0x4, 0x10
KNOWN_FEATURES = 0x1F
"""Incompatible ones, dirty (1) and a compression type (8) among them, which do not matter here."""
ZSTD = 1
ENCRYPTION_HEADER = 0x0537BE77
BACKING_FORMAT = 0xE2792ACA
MOST_EXTENSIONS = 32
MOST_NAME = 1023
MOST_WORD = 16
MOST_L1 = 4 * 1024 * 1024
"""Entries: what QEMU allows, 32 MiB."""

OFFSET = 0x00FFFFFFFFFFFE00
COMPRESSED = 1 << 62
ZERO = 1
SUBCLUSTERS = 32


@dataclass(frozen=True, slots=True)
class Header:
    """What the header says that reading needs."""

    cluster_bits: int
    size: int
    """Bytes of the disk."""
    l1_offset: int
    l1_size: int
    backing: str
    """Name of the backing file as written; "" for none, "?" for one that cannot be a name."""
    backing_format: str
    """"" where it is not said: QEMU guesses then, which a guest's data can mislead."""
    encryption: HostEncryption | None
    extended: bool
    """Entries of the L2 tables have a bitmap of subclusters."""
    zstd: bool


class Image:
    """A disk within a qcow2 file."""

    def __init__(self, file: Medium, header: Header, backing: Read | None = None) -> None:
        self.header = header
        self._file = file
        self._backing = backing
        self._cluster = 1 << header.cluster_bits
        self._entry = 16 if header.extended else 8
        self._last = (0, b"")
        """The compressed cluster that was read last, with its entry."""

    def read(self, offset: int, size: int) -> bytes:
        """Return bytes of the disk; fewer than asked for where it ends.

        Raises:
            InputError: They lie in another file or are not to be read, or the image is damaged.
        """
        end = min(offset + min(size, MOST), self.header.size)
        data = bytearray()
        while offset < end:
            # No piece is larger than a subcluster, so that each has one source.
            step = self._cluster // (SUBCLUSTERS if self.header.extended else 1)
            count = min(end, offset // step * step + step) - offset
            data += self._piece(offset, count)
            offset += count
        return bytes(data)

    def _piece(self, offset: int, size: int) -> bytes:
        entry, bitmap = self._lookup(offset)
        within = offset % self._cluster
        if entry & COMPRESSED:
            return self._inflated(entry)[within : within + size]
        place = entry & OFFSET
        if self.header.extended:
            index = within // (self._cluster // SUBCLUSTERS)
            zero, there = bitmap >> (32 + index) & 1, bitmap >> index & 1
        else:
            zero, there = entry & ZERO, 1 if place else 0
        if zero:
            return bytes(size)
        if not there:
            return self._below(offset, size)
        # A file may end before its last cluster does.
        return self._file.take(place + within, size).ljust(size, b"\0")

    def _lookup(self, offset: int) -> tuple[int, int]:
        """Return the L2 entry of an offset and its bitmap of subclusters (0 where it has none)."""
        per_table = self._cluster // self._entry
        number = offset // self._cluster
        index = number // per_table
        if index >= self.header.l1_size:
            return 0, 0
        table = self._number(self.header.l1_offset + 8 * index) & OFFSET
        if not table:
            return 0, 0
        at = table + number % per_table * self._entry
        return self._number(at), self._number(at + 8) if self.header.extended else 0

    def _number(self, offset: int) -> int:
        data = self._file.take(offset, 8)
        if len(data) < 8:
            raise InputError("the qcow2 image is damaged: a table lies behind its end")
        return int.from_bytes(data, "big")

    def _inflated(self, entry: int) -> bytes:
        """Return a compressed cluster."""
        if self.header.zstd:
            raise InputError("the qcow2 image is compressed with zstd, which is not read here")
        if self._last[0] == entry:
            return self._last[1]
        bits = 62 - (self.header.cluster_bits - 8)
        place = entry & ((1 << bits) - 1)
        sectors = (entry & (COMPRESSED - 1)) >> bits
        packed = self._file.take(place, (sectors + 1) * 512 - place % 512)
        try:
            data = zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, self._cluster)
        except zlib.error as error:
            raise InputError(f"the qcow2 image is damaged: {error}") from error
        if len(data) < self._cluster:
            raise InputError("the qcow2 image is damaged, or its clusters are too large")
        self._last = (entry, data)
        return data

    def _below(self, offset: int, size: int) -> bytes:
        """Return what the image does not hold itself."""
        if not self.header.backing:
            return bytes(size)
        if self._backing is None:
            raise InputError("a part of it lies in the image's backing file, which was not read")
        return self._backing(offset, size)[:size].ljust(size, b"\0")


def header(file: Medium) -> Header:
    """Return what the header of a qcow2 file says.

    Raises:
        InputError: It is none, is damaged, or needs something that is not read here.
    """
    head = file.take(0, 512)
    if len(head) < 104 or not head.startswith(MAGIC):
        raise InputError("it is not a qcow2 image, although it is configured as one")
    _, version, name_at, name_size, bits, size, method, l1_size, l1_at = HEADER.unpack_from(head)
    if version not in (2, 3) or not 9 <= bits <= 21 or l1_size > MOST_L1 or size > FARTHEST:
        raise InputError("the header of the qcow2 image is damaged, or of a later version")
    features = int.from_bytes(head[72:80], "big") if version == 3 else 0
    if features & ~KNOWN_FEATURES:
        raise InputError("the qcow2 image has features that are not known here")
    if features & EXTERNAL_DATA:
        raise InputError("the qcow2 image keeps its data in another file, which is not opened")
    length = int.from_bytes(head[100:104], "big") if version == 3 else 72
    extensions = {kind: (at, size) for kind, at, size in _extensions(file, length)}
    return Header(
        cluster_bits=bits,
        size=size,
        l1_offset=l1_at,
        l1_size=l1_size,
        backing=_name(file, name_at, name_size),
        backing_format=word(file.take(*_clipped(extensions.get(BACKING_FORMAT)))),
        encryption=_encryption(file, method, extensions.get(ENCRYPTION_HEADER)),
        extended=bool(features & EXTENDED_L2),
        zstd=length > 104 and head[104] == ZSTD,
    )


def _name(file: Medium, offset: int, size: int) -> str:
    if not offset:
        return ""
    if not 0 < size <= MOST_NAME:
        raise InputError("the header of the qcow2 image is damaged: its backing file's name")
    name = file.take(offset, size).decode("utf-8", errors="replace")
    return name if name.isprintable() and len(name.encode()) == size else "?"


def _encryption(
    file: Medium, method: int, pointer: tuple[int, int] | None
) -> HostEncryption | None:
    where = "within the qcow2 image"
    if method == 0:
        return None
    if method == 1:
        return HostEncryption("qcow", "aes-cbc", where)
    place = file.take(pointer[0], 8) if pointer else b""
    found = luks.read(Extent(file, int.from_bytes(place, "big"))) if place else None
    return HostEncryption("luks", found.cipher if found else "", where)


def _clipped(extension: tuple[int, int] | None) -> tuple[int, int]:
    offset, size = extension or (0, 0)
    return offset, min(size, MOST_WORD)


def _extensions(file: Medium, offset: int) -> Iterator[tuple[int, int, int]]:
    """Yield type, offset and size of the data of each header extension."""
    for _ in range(MOST_EXTENSIONS):
        head = file.take(offset, 8)
        kind, size = int.from_bytes(head[:4], "big"), int.from_bytes(head[4:], "big")
        if not kind or len(head) < 8:
            return
        yield kind, offset + 8, size
        offset += 8 + (size + 7) // 8 * 8
