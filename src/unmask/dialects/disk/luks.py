"""Headers of LUKS1 and LUKS2, also where only LUKS2's second one is whole.

Sources: "LUKS1 On-Disk Format Specification" 1.2.3; "LUKS2 On-Disk Format Specification" 1.1.4.
"""

from __future__ import annotations

import json
import re
import struct
from dataclasses import dataclass
from typing import Any

from unmask.dialects.disk.medium import Extent, word

MAGIC = b"LUKS\xba\xbe"
SECOND_MAGIC = b"SKUL\xba\xbe"
SIZES = tuple(0x4000 << power for power in range(9))
"""What a LUKS2 header, binary and JSON, may measure: 16 KiB to 4 MiB; the second one follows."""
JSON_OFFSET = 4096
JSON_STEP = 16 * 1024
MOST_JSON = 256 * 1024
"""Bytes; cryptsetup's own are below 5 KiB unless there are very many key slots and tokens."""

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9()_:,./-]{0,63}")


@dataclass(frozen=True, slots=True)
class Luks:
    """How a LUKS volume is encrypted."""

    version: int
    cipher: str = ""
    """"aes-xts-plain64"; "" where the header is damaged."""
    key_bits: int | None = None
    label: str = ""


def read(extent: Extent) -> Luks | None:
    """Return what the header at the start says, None where there is none.

    A header of LUKS2 that is damaged is read from its second copy.

    Raises:
        InputError: Too much would have to be read.
    """
    head = extent.take(0, 4096)
    if not head.startswith(MAGIC):
        return None
    version = int.from_bytes(head[6:8], "big")
    if version == 1:
        return _luks1(head)
    if version != 2:
        return None
    return _luks2(extent, 0, head) or second(extent) or Luks(2)


def _luks1(head: bytes) -> Luks:
    if len(head) < 592:
        return Luks(1)
    name, mode = word(head[8:40]), word(head[40:72])
    (key_bytes,) = struct.unpack_from(">I", head, 108)
    return Luks(1, _cipher(f"{name}-{mode}" if mode else name), _bits(key_bytes))


def second(extent: Extent) -> Luks | None:
    """Return what a second header of LUKS2 says, whatever has become of the first.

    Raises:
        InputError: Too much would have to be read.
    """
    for offset in SIZES:
        head = extent.take(offset, 4096)
        # Each header tells where it lies, so that what a file holds is not taken for one.
        if head.startswith(SECOND_MAGIC) and int.from_bytes(head[256:264], "big") == offset:
            return _luks2(extent, offset, head) or Luks(2)
    return None


def _luks2(extent: Extent, offset: int, head: bytes) -> Luks | None:
    """Return what a header says whose JSON can be read."""
    size = int.from_bytes(head[8:16], "big")
    if size not in SIZES:
        return None
    tree = _json(extent, offset + JSON_OFFSET, min(size - JSON_OFFSET, MOST_JSON))
    segment = _segment(tree)
    if segment is None:
        return None
    number, cipher = segment
    return Luks(2, cipher, _key_bits(tree, number), word(head[24:72]))


def _json(extent: Extent, offset: int, most: int) -> Any:
    """Return the JSON that ends with a NUL, None where it is none."""
    data = bytearray()
    while len(data) < most and 0 not in data:
        more = extent.take(offset + len(data), min(JSON_STEP, most - len(data)))
        if not more:
            break
        data += more
    text, end, _ = bytes(data).partition(b"\0")
    if not end:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _records(tree: Any, name: str) -> dict[str, dict[str, Any]]:
    """Return the objects by number of one of the top-level objects."""
    found = tree.get(name) if isinstance(tree, dict) else None
    if not isinstance(found, dict):
        return {}
    return {key: value for key, value in found.items() if isinstance(value, dict)}


def _segment(tree: Any) -> tuple[str, str] | None:
    """Return number and cipher of the first segment that the processor encrypts."""
    for number, segment in _records(tree, "segments").items():
        if segment.get("type") in ("crypt", "hw-opal-crypt"):
            return number, _cipher(segment.get("encryption"))
    return None


def _key_bits(tree: Any, segment: str) -> int | None:
    """Return the size of the volume key: that of a slot whose digest is the segment's."""
    slots = _records(tree, "keyslots")
    for digest in _records(tree, "digests").values():
        segments, numbers = digest.get("segments"), digest.get("keyslots")
        if isinstance(segments, list) and segment in segments and isinstance(numbers, list):
            for number in numbers:
                bits = _bits(slots.get(str(number), {}).get("key_size"))
                if bits:
                    return bits
    return None


def _cipher(name: Any) -> str:
    if not isinstance(name, str) or not NAME.fullmatch(name):
        return ""
    return name


def _bits(size: Any) -> int | None:
    return size * 8 if type(size) is int and 0 < size <= 512 else None
