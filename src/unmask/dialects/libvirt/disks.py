"""The disks of a domain's XML: where each lies, in which format, and what it is based on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unmask.dialects.libvirt.xml import Element

MOST_DISKS = 64
MOST_LAYERS = 16
GUEST_DEVICES = ("disk", "lun")
"""What is a disk to the guest; a cdrom or floppy is none."""


@dataclass(frozen=True, slots=True)
class Layer:
    """An image, or a disk of the host."""

    kind: str
    """The element's `type`: "file", "block", "network", "volume", "dir", "nvme" ..."""
    path: str
    """Of a file or device; "POOL/VOLUME"; "rbd:POOL/IMAGE"; "" where it is not told."""
    format: str
    """"raw", "qcow2" ...; a layer without one is raw to libvirt."""


@dataclass(frozen=True, slots=True)
class DomainDisk:
    """One `<disk>`."""

    target: str
    """"vda"; libvirt's name for it in every call."""
    image: Layer
    backing: tuple[Layer, ...] = ()
    """What `<backingStore>` names below it; libvirt shows that of running domains."""
    encryption: str = ""
    """The format of `<encryption>`: "luks", "luks2", "qcow"; "" for none."""


def read(root: Element) -> tuple[DomainDisk, ...]:
    """Return the disks of a `<domain>` in the order of its XML."""
    return tuple(_disks(root))


def _disks(root: Element) -> Iterator[DomainDisk]:
    for disk in root.findall("devices/disk")[:MOST_DISKS]:
        target = disk.find("target")
        if disk.get("device", "disk") not in GUEST_DEVICES or target is None:
            continue
        driver = disk.find("driver")
        yield DomainDisk(
            target=target.get("dev", ""),
            image=_layer(disk, "" if driver is None else driver.get("type", "")),
            backing=tuple(_backing(disk)),
            encryption=_encryption(disk),
        )


def _backing(disk: Element) -> Iterator[Layer]:
    below = disk.find("backingStore")
    for _ in range(MOST_LAYERS):
        if below is None or below.find("source") is None:
            return
        written = below.find("format")
        yield _layer(below, "" if written is None else written.get("type", ""))
        below = below.find("backingStore")


def _layer(element: Element, written: str) -> Layer:
    kind = element.get("type", "file")
    source = element.find("source")
    said = {} if source is None else source.attrib
    path = {
        "file": said.get("file", ""),
        "block": said.get("dev", ""),
        "dir": said.get("dir", ""),
        "volume": f"{said.get('pool', '')}/{said.get('volume', '')}",
        "network": f"{said.get('protocol', '')}:{said.get('name', '')}",
    }.get(kind, "")
    return Layer(kind, path, written or "raw")


def _encryption(disk: Element) -> str:
    """Return the format of `<encryption>`, which stands in the disk or in its source."""
    for place in ("encryption", "source/encryption"):
        found = disk.find(place)
        if found is not None:
            return found.get("format", "") or "default"
    return ""
