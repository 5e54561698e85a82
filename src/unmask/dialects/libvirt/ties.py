"""What holds a domain on its host.

Sources: qemuMigrationSrcIsAllowed and qemuMigrationSrcIsSafe of src/qemu/qemu_migration.c (libvirt
10) for what stops a live migration; an offline one (`virsh migrate --offline`) sends the definition
alone and looks at snapshots only, which stop both. A disk that is no network disk is on storage
that both hosts have, which its path does not tell, or a live migration copies it
(`--copy-storage-all`); an offline one copies nothing. The networks and bridges that interfaces are
connected to are taken to be everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from unmask.dialects import start_ties
from unmask.dialects.excerpt import excerpt
from unmask.model.reading import Missing
from unmask.model.tie import Tie, TieKind

if TYPE_CHECKING:
    from unmask.dialects.libvirt.xml import Element

LIMIT = 100
LOCAL = Missing("whether the target has the same storage is not known", "a look at its storage")
TPM = Missing(
    "an offline migration leaves it behind", "a copy of its directory in /var/lib/libvirt/swtpm"
)
SNAPSHOTS = Missing("whether it has snapshots is not known", "a libvirt URI")
MOST = 128
"""Elements of one kind that are looked at."""

MEDIA = ("cdrom", "floppy")
LEFT_OUT = ("optional", "requisite")
"""Values of `startupPolicy` with which a medium that the target lacks is taken out."""

PLACES = {
    "file": "file",
    "block": "dev",
    "dir": "dir",
    "nvme": "namespace",
    "vhostuser": "path",
    "vhostvdpa": "dev",
}
"""Attribute of a disk's `<source>` that says where it is, by the disk's type."""

HELD = {"nvme": TieKind.PASSTHROUGH, "vhostuser": TieKind.RESOURCE, "vhostvdpa": TieKind.RESOURCE}
"""Types of disk that stay with their host."""


def ties(root: Element, arguments: list[str]) -> tuple[Tie, ...]:
    """Return what holds the domain of a `<domain>` on its host.

    Args:
        root: The element.
        arguments: Of `<qemu:commandline>`.
    """
    found = [*_security(root), *_memory(root), *_processors(root)]
    for finder in (_devices, _interfaces, _disks, _directories, _ports, _modules):
        found += finder(root)
    kernel = [root.find(f"os/{name}") for name in ("kernel", "initrd")]
    texts = [(item.tag, (item.text or "").strip()) for item in kernel if item is not None]
    found += [start_ties.of_file(f"{tag} {excerpt(text, LIMIT)}") for tag, text in texts if text]
    found += start_ties.of_arguments(arguments, "qemu:commandline")
    return tuple(found)


def of_snapshots(*, kept: bool | None) -> tuple[Tie, ...]:
    """Return what a domain's snapshots tie it to; `kept` is None where nobody has looked."""
    if kept is False:
        return ()
    return (Tie(TieKind.SNAPSHOTS, "its snapshots", unread=None if kept else SNAPSHOTS),)


def _security(root: Element) -> Iterator[Tie]:
    for item in root.findall("launchSecurity")[:1]:
        said = f"launchSecurity {excerpt(item.get('type', ''), LIMIT)}"
        yield Tie(TieKind.CONFIDENTIAL, said, live=True, cold=False)


def _memory(root: Element) -> Iterator[Tie]:
    if root.find("memoryBacking/hugepages") is not None:
        page = root.find("memoryBacking/hugepages/page")
        size = "" if page is None else f" of {page.get('size', '')} {page.get('unit', 'KiB')}"
        yield start_ties.of_pages(excerpt(f"hugepages{size}", LIMIT))
    for item in root.findall("numatune/memory")[:1]:
        nodes = item.get("nodeset", "")
        if nodes:
            yield start_ties.of_memory_nodes(f"numatune on NUMA node {excerpt(nodes, 40)}", nodes)


def _processors(root: Element) -> Iterator[Tie]:
    """A domain does not start where a processor that it is pinned to is missing."""
    pins = ("vcpupin", "emulatorpin", "iothreadpin")
    sets = [item.get("cpuset", "") for name in pins for item in root.findall(f"cputune/{name}")]
    placed = root.find("vcpu")
    sets += [placed.get("cpuset", "")] if placed is not None else []
    named = ",".join(dict.fromkeys(item for item in sets if item))
    if named:
        said = excerpt(named, 60)
        reason = f"whether the target has the processors {said} is not known"
        missing = Missing(reason, "`lscpu` on the target")
        yield Tie(TieKind.AFFINITY, f"pinned to the processors {said}", unread=missing)


def _devices(root: Element) -> Iterator[Tie]:
    for item in root.findall("devices/hostdev")[:MOST]:
        kind = item.get("type", "")
        what = excerpt(f"hostdev {kind} {_address(item)}".strip(), LIMIT)
        if kind == "usb":
            reason = "whether the target has such a USB device is not known"
            missing = Missing(reason, "`lsusb` on the target")
            yield Tie(TieKind.PASSTHROUGH, what, unread=missing)
        else:
            yield Tie(TieKind.PASSTHROUGH, what, live=not _teamed(item))
    for item in root.findall("devices/shmem")[:MOST]:
        if item.get("role") != "master":
            said = f"shmem {excerpt(item.get('name', ''), LIMIT)}"
            yield Tie(TieKind.RESOURCE, said, live=True, cold=False)


def _address(item: Element) -> str:
    """Return a device's address on its host: "0000:03:00.0", "1050:0407", a UUID."""
    address = item.find("source/address")
    if address is not None and address.get("bus") and item.get("type") == "pci":
        parts = [address.get(name, "0x0").removeprefix("0x") for name in ("domain", "bus", "slot")]
        return f"{parts[0]}:{parts[1]}:{parts[2]}.{address.get('function', '0x0')[-1:]}"
    if address is not None and address.get("uuid"):
        return address.get("uuid", "")
    numbers = (item.find(f"source/{name}") for name in ("vendor", "product"))
    return ":".join(n.get("id", "").removeprefix("0x") for n in numbers if n is not None)


def _teamed(item: Element) -> bool:
    """Return whether QEMU unplugs the device before a migration by itself."""
    teaming = item.find("teaming")
    return teaming is not None and teaming.get("type") == "transient"


def _interfaces(root: Element) -> Iterator[Tie]:
    for item in root.findall("devices/interface")[:MOST]:
        kind, source = item.get("type", ""), item.find("source")
        device = "" if source is None else source.get("dev", "")
        what = excerpt(f"interface {kind} {device}".strip(), LIMIT)
        if kind == "hostdev":
            yield Tie(TieKind.PASSTHROUGH, what, live=not _teamed(item))
        elif kind == "vdpa":
            yield Tie(TieKind.PASSTHROUGH, what)
        elif kind == "direct":
            yield Tie(TieKind.RESOURCE, what, live=False, cold=False)


def _disks(root: Element) -> Iterator[Tie]:
    for item in root.findall("devices/disk")[:MOST]:
        kind, source, target = item.get("type", "file"), item.find("source"), item.find("target")
        if source is None or kind == "network":
            continue
        name = "a disk" if target is None else target.get("dev", "")
        where = source.get(PLACES.get(kind, ""), "")
        if kind == "volume":
            where = f"{source.get('pool', '')}/{source.get('volume', '')}"
        what = excerpt(f"{name}: {where}" if where else name, LIMIT)
        if kind in HELD:
            yield Tie(HELD[kind], what)
        elif item.get("device") in MEDIA:
            if where and source.get("startupPolicy") not in LEFT_OUT:
                yield start_ties.of_file(what)
        elif item.find("transient") is not None:
            yield Tie(TieKind.LOCAL_DISK, f"{what}, transient", live=True, cold=False)
        else:
            yield Tie(TieKind.LOCAL_DISK, what, live=False, cold=False)
            yield Tie(TieKind.LOCAL_DISK, what, live=False, cold=True, unread=LOCAL)


def _directories(root: Element) -> Iterator[Tie]:
    for item in root.findall("devices/filesystem")[:MOST]:
        source = item.find("source")
        path = "" if source is None else source.get("dir", "") or source.get("socket", "")
        if not path:
            continue
        what = f"filesystem {excerpt(path, LIMIT)}"
        yield Tie(TieKind.RESOURCE, what, live=True, cold=False)
        missing = Missing(
            "whether the target has the same directory is not known", "a look at its files"
        )
        yield Tie(TieKind.RESOURCE, what, live=False, cold=True, unread=missing)


def _ports(root: Element) -> Iterator[Tie]:
    """A character device of the host, or one of its input devices."""
    for tag, kinds in (
        ("serial", ("dev",)),
        ("parallel", ("dev",)),
        ("console", ("dev",)),
        ("input", ("passthrough", "evdev")),
    ):
        for item in root.findall(f"devices/{tag}")[:MOST]:
            source = item.find("source")
            if item.get("type") in kinds and source is not None:
                path = source.get("path", "") or source.get("dev", "") or source.get("evdev", "")
                reason = "whether the target has the same device is not known"
                missing = Missing(reason, "a look at its /dev")
                what = f"{tag} {excerpt(path, LIMIT)}"
                yield Tie(TieKind.RESOURCE, what, unread=missing)


def _modules(root: Element) -> Iterator[Tie]:
    """An emulated TPM's state goes along with a live migration, and stays with an offline one."""
    for item in root.findall("devices/tpm/backend")[:1]:
        if item.get("type") == "emulator":
            said = "the state of its TPM"
            yield Tie(TieKind.LOCAL_DISK, said, live=False, cold=True, unread=TPM)
        else:
            kind = excerpt(item.get("type", ""), LIMIT)
            yield Tie(TieKind.PASSTHROUGH, f"the host's own TPM ({kind})")
