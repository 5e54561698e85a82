"""Bytes of the files in libvirt's storage pools, as they are: libvirt opens and sends them.

The only way to an image that is no raw one (`blockPeek` refuses those), and to any file that this
machine or this user cannot open. A connection that may not write may not do it either.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from unmask.connect.libvirt_guest import CALL_SECONDS, LibvirtHost

MOST = 1024 * 1024
"""Bytes that are read at once."""


@dataclass(frozen=True, slots=True)
class VolumeAccess:
    """A volume, by its key; methods raise `UnreadError`."""

    host: LibvirtHost
    path: str
    """That libvirt knows it by."""
    size: int
    """Bytes of the file or device itself."""

    def read(self, offset: int, size: int, seconds: float = CALL_SECONDS) -> bytes:
        """Return bytes of the file; fewer where it ends."""
        most = min(size, MOST, max(0, self.size - offset))
        if offset < 0 or most <= 0:
            return b""
        return self.host.call(lambda handle: _download(handle, self.path, offset, most), seconds)


def volume(host: LibvirtHost, path: str, seconds: float = CALL_SECONDS) -> VolumeAccess:
    """Return the volume with a path, or the one called "POOL/VOLUME".

    Raises:
        UnreadError: No active pool has it, or libvirt has no pools.
    """
    path, size = host.call(lambda handle: _found(handle, path), seconds)
    return VolumeAccess(host, path, size)


def _found(handle: Any, path: str) -> tuple[str, int]:
    pool, _, name = path.partition("/")
    if pool:
        found = handle.storagePoolLookupByName(pool).storageVolLookupByName(name)
    else:
        found = handle.storageVolLookupByPath(path)
    # The last number counts the bytes of a file that are in use, which may have holes.
    _, capacity, physical = found.infoFlags(_PHYSICAL)
    return str(found.path()), int(physical or capacity)


_PHYSICAL = 1
"""VIR_STORAGE_VOL_GET_PHYSICAL: the size of the file instead of its blocks."""


def _download(handle: Any, path: str, offset: int, size: int) -> bytes:
    stream = handle.newStream(0)
    done = False
    try:
        handle.storageVolLookupByPath(path).download(stream, offset, size, 0)
        data = bytearray()
        while len(data) < size:
            block = stream.recv(size - len(data))
            if not block:
                break
            data += block
        stream.finish()
        done = True
        return bytes(data)
    finally:
        if not done:
            stream.abort()
