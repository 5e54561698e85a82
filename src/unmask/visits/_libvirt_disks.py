"""The disks of a domain, read through libvirt, for running and stopped ones alike.

A raw disk is peeked at by libvirt's daemon. It does not do that for qcow2, whose file is read
instead: here where libvirt runs on this machine and this user may, else through a storage
pool that holds it. The disk within is found by `unmask.dialects.disk.qcow2`, so that no program is
run on it, nothing is locked, and no file is opened because an image names it, unless it lies beside
that image, or libvirt itself names it.
"""

from __future__ import annotations

import posixpath
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from unmask.connect import libvirt_volumes
from unmask.connect.libvirt_guest import PEEK, DomainAccess
from unmask.dialects.libvirt import disks as domain_disks
from unmask.dialects.libvirt import xml
from unmask.dialects.libvirt.disks import DomainDisk, Layer
from unmask.errors import InputError, UnmaskError, UnreadError
from unmask.model.disk import Disk, HostEncryption
from unmask.model.inventory import Guest
from unmask.model.reading import Known, Missing, Reading
from unmask.visits import _local_below, _local_file
from unmask.visits._disks import Bytes, looked_at

FILES = ("file", "block")
"""Kinds of sources with a path."""
LONGEST_CALL = 10.0
"""Seconds that one question may take."""
POOL = "a storage pool of libvirt's that holds it, or an audit on the host itself"
PROTOCOL = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
"""What a name begins with that is no path: "nbd:", "json:"."""


def disks(access: DomainAccess, guest: Guest, seconds: float) -> Reading[tuple[Disk, ...]]:
    """Return a domain's disks, each with what its first sectors say or why they were not read.

    Raises:
        UnreadError: libvirt does not tell which disks it has.
        InputError: Its XML cannot be made sense of.
    """
    reader = _Reader(access, time.monotonic() + seconds)
    root = xml.parse(access.xml(reader.left()), f"the XML of {guest.name}")
    listed = domain_disks.read(root)
    found = tuple(reader.disk(each) for each in listed)
    if not access.local:
        return Known(found)
    paths = [each.image.path if each.image.kind in FILES else "" for each in listed]
    below = _local_below.encryption(paths, guest.host, reader.left())
    both = zip(found, below, strict=True)
    return Known(tuple(replace(each, encryption=each.encryption + more) for each, more in both))


@dataclass(frozen=True, slots=True)
class _Reader:
    access: DomainAccess
    end: float
    """When the time is used up."""

    def left(self) -> float:
        """Return the seconds that a question may take; raises `UnreadError` where none are left."""
        left = self.end - time.monotonic()
        if left <= 0:
            raise UnreadError("the time for this guest was used up", "a longer --guest-timeout")
        return min(left, LONGEST_CALL)

    def disk(self, found: DomainDisk) -> Disk:
        """Return one disk."""
        image = found.image
        disk = Disk(
            name=found.target,
            source=image.path,
            format=image.format,
            encryption=_encryption(found.encryption),
        )
        try:
            source = _first(self._ways(found))
        except UnreadError as error:
            return Disk(
                disk.name,
                disk.source,
                disk.format,
                parts=Missing(error.reason, error.needs),
                encryption=disk.encryption,
            )
        below = partial(self._below, found)
        return looked_at(disk, source, below, encrypted=bool(found.encryption))

    def _ways(self, found: DomainDisk) -> Iterator[Callable[[], Bytes]]:
        """Yield the ways to the bytes of a disk's file, the best first."""
        if found.image.format == "raw":
            yield partial(self._peeked, found.target)
        yield from self._file_ways(found.image)

    def _file_ways(self, layer: Layer) -> Iterator[Callable[[], Bytes]]:
        if layer.kind in FILES:
            if self.access.local:
                yield partial(_local_file.source, layer.path)
            yield partial(self._volume, layer.path)
        elif layer.kind == "volume":
            yield partial(self._volume, layer.path)

    def _peeked(self, target: str) -> Bytes:
        size = self.access.block_info(target, self.left()).capacity

        def read(offset: int, count: int) -> bytes:
            # libvirt refuses to read beyond the end instead of reading less.
            most = min(count, PEEK, size - offset)
            return self.access.peek(target, offset, most, self.left()) if most > 0 else b""

        return Bytes(read, size)

    def _volume(self, path: str) -> Bytes:
        try:
            found = libvirt_volumes.volume(self.access.host, path, self.left())
        except UnreadError as error:
            unknown = "no storage vol" in error.reason
            reason = "no storage pool of libvirt's holds it" if unknown else error.reason
            raise UnreadError(reason, error.needs or POOL) from error
        return Bytes(lambda at, count: found.read(at, count, self.left()), found.size, found.path)

    def _below(self, found: DomainDisk, image: str, name: str) -> Bytes:
        """Open a backing file: one that libvirt names or has in a pool, or one beside the image."""
        if PROTOCOL.match(name) or not name.isprintable() or not image:
            raise InputError("it is no file")
        folder = posixpath.dirname(image)
        path = posixpath.normpath(posixpath.join(folder, name))
        ways: list[Callable[[], Bytes]] = []
        named = path in [layer.path for layer in found.backing]
        if self.access.local and (named or posixpath.dirname(path) == folder):
            ways.append(partial(_local_file.source, path))
        ways.append(partial(self._volume, path))
        return _first(iter(ways))


def _first(ways: Iterator[Callable[[], Bytes]]) -> Bytes:
    """Return the first source that gives its first bytes.

    Raises:
        UnreadError: None does; the reasons are those of all.
    """
    failed: list[UnreadError] = []
    for way in ways:
        try:
            source = way()
            source.read(0, min(512, source.size or 0))
        except UnreadError as error:
            failed.append(error)
        except UnmaskError as error:
            failed.append(UnreadError(str(error)))
        else:
            return source
    reasons = dict.fromkeys(error.reason for error in failed)
    needs = dict.fromkeys(error.needs for error in failed if error.needs)
    said = "; ".join(reasons) or "it is no file or device that could be read"
    raise UnreadError(said, " or ".join(needs))


def _encryption(written: str) -> tuple[HostEncryption, ...]:
    if not written:
        return ()
    kind = "luks" if written.startswith("luks") else "qcow"
    return (HostEncryption(kind, where="libvirt's <encryption>"),)
