"""The label of a disk in a ZFS pool. It names the pool; it does not tell what is encrypted in it.

Sources: "ZFS On-Disk Specification" (2006), chapter 1; RFC 4506 for XDR.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from unmask.dialects.disk.medium import Extent, word

LABEL = 256 * 1024
"""Bytes of each of the four labels: two at the start of the disk, two at its end."""
LIST_OFFSET = 16 * 1024
LIST_READ = 16 * 1024
"""Bytes that are looked at of the 112 KiB that the list may take; the names stand first."""
XDR = 1
NUMBER, STRING = 8, 9
"""Types of a value."""
MOST_PAIRS = 64
KEYS = frozenset({"version", "guid", "pool_guid"})


@dataclass(frozen=True, slots=True)
class ZfsLabel:
    """What a label says."""

    pool: str
    """"" for a cache or spare disk, which belongs to no pool by name."""
    version: int
    """5000 for a pool with feature flags."""


def read(extent: Extent) -> ZfsLabel | None:
    """Return what the first of the four labels says that can be read, None where there is none.

    Raises:
        InputError: Too much would have to be read.
    """
    first = (0, LABEL)
    end = (extent.size or 0) // LABEL * LABEL
    last = (end - 2 * LABEL, end - LABEL) if end >= 4 * LABEL else ()
    for offset in (*first, *last):
        # Encoding, byte order, two reserved bytes; then the list's version and flags.
        head = extent.take(offset + LIST_OFFSET, 12)
        if len(head) == 12 and head[0] == XDR and head[1] in (0, 1) and not any(head[2:8]):
            found = _label(extent.take(offset + LIST_OFFSET + 12, LIST_READ - 12))
            if found is not None:
                return found
    return None


def _label(data: bytes) -> ZfsLabel | None:
    values: dict[str, str | int] = {}
    for name, value in _pairs(data):
        values.setdefault(name, value)
    version, pool = values.get("version"), values.get("name", "")
    if not isinstance(version, int) or not isinstance(pool, str) or len(KEYS & set(values)) < 2:
        return None
    return ZfsLabel(pool, version)


def _pairs(data: bytes) -> Iterator[tuple[str, str | int]]:
    """Yield numbers and strings of a list in XDR; what else is in it is passed over."""
    at = 0
    for _ in range(MOST_PAIRS):
        if at + 12 > len(data):
            return
        size, _, length = struct.unpack_from(">III", data, at)
        if not 20 <= size <= len(data) - at or length > size:
            return
        pair = data[at + 12 : at + size]
        name, rest = word(pair[:length]), pair[(length + 3) // 4 * 4 :]
        if len(rest) >= 12:
            kind, count = struct.unpack_from(">II", rest)
            if kind == NUMBER and count == 1 and len(rest) >= 16:
                yield name, int.from_bytes(rest[8:16], "big")
            elif kind == STRING and count == 1:
                yield name, word(rest[12 : 12 + int.from_bytes(rest[8:12], "big")])
        at += size
