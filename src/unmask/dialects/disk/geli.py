"""GELI, FreeBSD's encryption of disks, whose metadata are the last sector.

Source: struct g_eli_metadata in sys/geom/eli/g_eli.h and the numbers of sys/opencrypto/cryptodev.h
of FreeBSD.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from unmask.dialects.disk.medium import Extent

MAGIC = b"GEOM::ELI".ljust(16, b"\0")
NEWEST = 7
SECTOR_SIZES = (512, 4096)
ALGORITHMS = {
    2: "3DES-CBC",
    3: "Blowfish-CBC",
    11: "AES-CBC",
    16: "NULL",
    21: "CAMELLIA-CBC",
    22: "AES-XTS",
}
FIRST = struct.Struct("<16sIIHHQ")
"""Magic, version, flags, algorithm, key bits, size of the provider: version 0."""
SINCE_1 = struct.Struct("<16sIIHHHQ")
"""The same with an algorithm for authentication before the size."""


@dataclass(frozen=True, slots=True)
class Geli:
    """How a provider is encrypted."""

    algorithm: str
    """"AES-XTS"; "" for a number that is not known."""
    key_bits: int | None


def read(extent: Extent) -> Geli | None:
    """Return what the last sector says, None where it is not GELI's.

    Raises:
        InputError: Too much would have to be read.
    """
    for sector in SECTOR_SIZES:
        data = extent.last(sector)
        if len(data) < sector or not data.startswith(MAGIC):
            continue
        version = int.from_bytes(data[16:20], "little")
        layout = SINCE_1 if version else FIRST
        _, _, _, algorithm, bits, *_, size = layout.unpack_from(data)
        # FreeBSD ignores metadata of a provider of another size: they are left over.
        if version <= NEWEST and size == extent.size:
            return Geli(ALGORITHMS.get(algorithm, ""), bits or None)
    return None
