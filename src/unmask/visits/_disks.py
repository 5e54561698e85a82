"""From where a disk's bytes can be had to what it holds: images within files, and what is below."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from unmask.dialects.disk import contents, luks, qcow2
from unmask.dialects.disk.medium import Medium, Read, whole
from unmask.errors import InputError, UnmaskError, UnreadError
from unmask.model.disk import Disk, HostEncryption
from unmask.model.reading import Known, Missing

MOST_LAYERS = 8
"""Images on images."""
ENCRYPTED = Missing(
    "the host encrypts it: only QEMU, which has the key, sees what the guest has written"
)


@dataclass(frozen=True, slots=True)
class Bytes:
    """A file or device, or the disk within an image."""

    read: Read
    """Raises an `UnmaskError` where it cannot be read."""
    size: int | None
    """None where it is not known."""
    path: str = ""
    """Of the file or device, against which the name of a backing file is understood."""


Below: TypeAlias = Callable[[str, str], Bytes]
"""Opens the backing file of an image: the path of the image and the name that its header gives.

It decides which files may be opened at the word of a header; raises an `UnmaskError` else.
"""


def looked_at(disk: Disk, source: Bytes, below: Below, *, encrypted: bool = False) -> Disk:
    """Return a disk with what its first sectors say, or with the reason why that is not known.

    Args:
        disk: With its format.
        source: Of the disk's bytes, or of the image's file.
        below: For backing files.
        encrypted: Whether the host is configured to encrypt the disk itself.
    """
    try:
        disk, read = _opened(disk, source, below, encrypted=encrypted)
    except UnmaskError as error:
        return replace(disk, parts=_missing(error))
    if read is None:
        return replace(disk, parts=ENCRYPTED)
    try:
        return replace(disk, parts=Known(contents.read(read, disk.size)))
    except UnmaskError as error:
        return replace(disk, parts=_missing(error))


def _missing(error: UnmaskError) -> Missing:
    if isinstance(error, UnreadError):
        return Missing(error.reason, error.needs)
    return Missing(str(error))


def _opened(
    disk: Disk, source: Bytes, below: Below, *, encrypted: bool
) -> tuple[Disk, Read | None]:
    """Return the disk with its size, and what reads it: None where the host encrypts it."""
    if disk.format == "qcow2":
        return _image(disk, source, below)
    if disk.format != "raw":
        raise InputError(f"images in the format {disk.format} are not read")
    if source.size is not None:
        disk = replace(disk, size=source.size)
    if encrypted:
        return replace(disk, encryption=_header(disk, source)), None
    return disk, source.read


def _image(disk: Disk, source: Bytes, below: Below) -> tuple[Disk, Read | None]:
    file = Medium(source.read, source.size)
    header = qcow2.header(file)
    disk = replace(disk, size=header.size)
    if header.encryption:
        cipher = header.encryption.cipher
        told = tuple(replace(each, cipher=cipher) for each in disk.encryption)
        return replace(disk, encryption=told or (header.encryption,)), None
    backing = _backing(source.path, header, below, MOST_LAYERS)
    return disk, qcow2.Image(file, header, backing).read


def _header(disk: Disk, source: Bytes) -> tuple[HostEncryption, ...]:
    """Return the host's encryption with the cipher that its LUKS header names."""
    found = luks.read(whole(Medium(source.read, source.size)))
    cipher = found.cipher if found else ""
    return tuple(replace(each, cipher=each.cipher or cipher) for each in disk.encryption)


def _backing(path: str, header: qcow2.Header, below: Below, depth: int) -> Read | None:
    """Return what reads the layer below an image, which is opened when it is first needed."""
    if not header.backing:
        return None
    opened: list[Read] = []

    def read(offset: int, size: int) -> bytes:
        try:
            if not opened:
                layer = below(path, header.backing)
                opened.append(_layer(layer, header.backing_format, below, depth))
            return opened[0](offset, size)
        except UnmaskError as error:
            missing = _missing(error)
            reason = f"it is based on another image, which was not read: {missing.reason}"
            raise UnreadError(reason, missing.needs) from error

    return read


def _layer(source: Bytes, kind: str, below: Below, depth: int) -> Read:
    if kind == "raw":
        return Medium(source.read, source.size).take
    if kind != "qcow2":
        raise InputError("its format is not told, and is not guessed")
    if depth == 0:
        raise InputError(f"there are more than {MOST_LAYERS} on each other")
    file = Medium(source.read, source.size)
    header = qcow2.header(file)
    if header.encryption:
        raise InputError("the host encrypts it")
    return qcow2.Image(file, header, _backing(source.path, header, below, depth - 1)).read
