"""BitLocker: where a volume's metadata lies, and the method that it names.

Sources: "BitLocker Drive Encryption (BDE) format" of libbde; cryptsetup's lib/bitlk reads the same.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from unmask.dialects.disk.medium import Extent

SIGNATURE = b"-FVE-FS-"
SIGNATURE_TO_GO = b"MSWIN4.1"
VISTA_JUMP = b"\xeb\x52\x90"
GUIDS = frozenset(
    bytes.fromhex(text)
    for text in (
        "3bd66749292ed84a8399f6a339e3d001",
        "3b4da89280dd0e4d9e4eb1e3284eaed8",  # used space only
    )
)
GUID_OFFSET = 160
GUID_OFFSET_TO_GO = 424
METHOD_OFFSET = 100
METHODS = {
    0x0000: "none",
    0x8000: "AES-CBC-128+diffuser",
    0x8001: "AES-CBC-256+diffuser",
    0x8002: "AES-CBC-128",
    0x8003: "AES-CBC-256",
    0x8004: "XTS-AES-128",
    0x8005: "XTS-AES-256",
}


@dataclass(frozen=True, slots=True)
class BitLocker:
    """How a BitLocker volume is encrypted."""

    method: str = ""
    """As `unmask.model.inside_storage.BitLockerVolume` writes it; "" where it cannot be read."""


def read(extent: Extent) -> BitLocker | None:
    """Return what a volume says, None where it is none of BitLocker's.

    Raises:
        InputError: Too much would have to be read.
    """
    head = extent.take(0, 512)
    if len(head) < 512:
        return None
    name = head[3:11]
    if name == SIGNATURE_TO_GO and head[GUID_OFFSET_TO_GO:][:16] in GUIDS:
        offsets = _offsets(head, GUID_OFFSET_TO_GO)
    elif name != SIGNATURE:
        return None
    elif head[:3] == VISTA_JUMP:
        offsets = (_vista(head),)
    else:
        offsets = _offsets(head, GUID_OFFSET)
    for offset in offsets:
        method = _method(extent.take(offset, 512)) if offset else None
        if method is not None:
            return BitLocker(method)
    return BitLocker()


def _offsets(head: bytes, guid: int) -> tuple[int, ...]:
    return struct.unpack_from("<QQQ", head, guid + 16)


def _vista(head: bytes) -> int:
    """Return where the first block lies: it takes the place of the copy of NTFS's file table."""
    sector, clusters = struct.unpack_from("<HB", head, 11)
    (first,) = struct.unpack_from("<Q", head, 56)
    return int(sector * clusters * first)


def _method(block: bytes) -> str | None:
    """Return the method that a metadata block names, None where it is none or names none known."""
    if len(block) < 112 or not block.startswith(SIGNATURE):
        return None
    (version,) = struct.unpack_from("<H", block, 10)
    (number,) = struct.unpack_from("<H", block, METHOD_OFFSET)
    if version not in (1, 2):
        return None
    return METHODS.get(number)
