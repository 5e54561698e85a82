"""The disks that a guest's configuration lists.

Sources: PVE/QemuServer/Drive.pm of qemu-server 9: a drive is its volume and options after commas;
qemu_img_format: the format of a file is its name's ending, all else is raw.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

KEY = re.compile(r"(?:ide|sata|scsi|virtio)\d{1,3}", re.ASCII)
ENDING = re.compile(r"\.(raw|qcow2|qed|vmdk|cow|vdi|vhdx?|img)$")
SIZE = re.compile(r"(\d{1,15})([KMGT]?)")
UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
NOTHING = ("none", "cdrom", "")
MOST_DISKS = 64


@dataclass(frozen=True, slots=True)
class GuestDisk:
    """A disk of a guest."""

    key: str
    """"scsi0"."""
    volume: str
    """"local-lvm:vm-101-disk-0", or the path of a disk of the node's own."""
    format: str
    """"raw", "qcow2" ..."""
    size: int | None = None
    """Bytes, as the configuration has them."""


def read(values: Mapping[str, str]) -> tuple[GuestDisk, ...]:
    """Return the disks among the values of a configuration, by key, without CD drives."""
    return tuple(_disks(values))[:MOST_DISKS]


def _disks(values: Mapping[str, str]) -> Iterator[GuestDisk]:
    for key in sorted(key for key in values if KEY.fullmatch(key)):
        volume, options = drive(values[key])
        if volume in NOTHING or options.get("media") == "cdrom":
            continue
        ending = ENDING.search(volume)
        written = ending[1] if ending else "raw"
        chosen = options.get("format") or ("raw" if written == "img" else written)
        yield GuestDisk(key, volume, chosen, _size(options.get("size", "")))


def drive(value: str) -> tuple[str, dict[str, str]]:
    """Return the volume of a drive and its options by name."""
    first, *rest = value.split(",")
    options = dict(part.partition("=")[::2] for part in rest)
    return (_file(first, options) if "=" in first else first), options


def _file(first: str, options: dict[str, str]) -> str:
    """Return the volume where it is not the first word, or is with its name."""
    name, _, value = first.partition("=")
    if name in ("file", "volume"):
        return value
    options[name] = value
    return options.get("file", "") or options.get("volume", "")


def _size(text: str) -> int | None:
    match = SIZE.fullmatch(text)
    return int(match[1]) << UNITS[match[2]] if match else None
