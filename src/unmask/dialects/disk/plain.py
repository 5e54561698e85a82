"""What else lies on disks: file systems, swap, LVM, RAID, told apart by their magic numbers.

Sources: the headers of each format as its own documentation gives them; blkid is the oracle.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from unmask.dialects.disk.medium import Extent

HAS_JOURNAL = 0x4
"""Of an ext file system's compatible features."""
EXT4_ONLY = 0x02C0
"""Of its incompatible features: extents, 64 bit, flexible block groups."""
PAGES = (4096, 8192, 16384, 65536)
"""Sizes of a page, at whose end swap has its signature."""


@dataclass(frozen=True, slots=True)
class _Mark:
    kind: str
    offset: int
    magic: bytes


_BOOT = (
    _Mark("xfs", 0, b"XFSB"),
    _Mark("ntfs", 3, b"NTFS    "),
    _Mark("exfat", 3, b"EXFAT   "),
    _Mark("refs", 3, b"ReFS\0\0\0\0"),
    _Mark("vfat", 82, b"FAT32   "),
    _Mark("vfat", 54, b"FAT16   "),
    _Mark("vfat", 54, b"FAT12   "),
    _Mark("squashfs", 0, b"hsqs"),
    _Mark("apfs", 32, b"NXSB"),
    _Mark("linux_raid", 0, b"\xfc\x4e\x2b\xa9\x01\0\0\0"),
)
_NEAR = (
    _Mark("f2fs", 1024, b"\x10\x20\xf5\xf2"),
    _Mark("hfsplus", 1024, b"H+\0\x04"),
    _Mark("hfsplus", 1024, b"HX\0\x05"),
)
_FAR = (
    _Mark("linux_raid", 4096, b"\xfc\x4e\x2b\xa9\x01\0\0\0"),
    _Mark("iso9660", 32769, b"CD001"),
    _Mark("btrfs", 65600, b"_BHRfS_M"),
    _Mark("ufs", 65536 + 1372, b"\x19\x01\x54\x19"),
    _Mark("ufs", 8192 + 1372, b"\x19\x01\x54\x19"),
    _Mark("ufs", 8192 + 1372, b"\x54\x19\x01\0"),
)


def boot_sector(extent: Extent) -> str:
    """Return the kind that the first sector tells, "" where it does not. Raises `InputError`."""
    return _marked(extent.take(0, 512), _BOOT)


def near(extent: Extent) -> str:
    """Return the kind that the first page tells, "" where it does not. Raises `InputError`."""
    head = extent.take(0, 4096)
    return _marked(head, _NEAR) or _lvm(head) or _ext(head) or _swap(head)


def _marked(head: bytes, marks: tuple[_Mark, ...]) -> str:
    for mark in marks:
        if head.startswith(mark.magic, mark.offset):
            return mark.kind
    return ""


def far(extent: Extent) -> str:
    """Return the kind that what lies behind it tells, "" where it does not. Raises `InputError`."""
    for mark in _FAR:
        if extent.take(mark.offset, len(mark.magic)) == mark.magic:
            return mark.kind
    for page in PAGES[1:]:
        if found := _swap(extent.take(page - 10, 10)):
            return found
    return ""


def _lvm(head: bytes) -> str:
    """Return "lvm" where one of the first four sectors is a label of a physical volume."""
    for at in range(0, 2048, 512):
        if head[at : at + 8] == b"LABELONE" and head[at + 24 : at + 32] == b"LVM2 001":
            return "lvm"
    return ""


def _ext(head: bytes) -> str:
    if head[1080:1082] != b"\x53\xef" or len(head) < 1128:
        return ""
    compatible, incompatible = struct.unpack_from("<II", head, 1116)
    if incompatible & EXT4_ONLY:
        return "ext4"
    return "ext3" if compatible & HAS_JOURNAL else "ext2"


def _swap(page: bytes) -> str:
    return "swap" if page.endswith((b"SWAPSPACE2", b"SWAP-SPACE")) else ""
