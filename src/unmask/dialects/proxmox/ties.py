"""What holds a virtual machine of Proxmox VE on its node.

Sources: check_local_resources and check_non_migratable_resources of PVE/QemuMigrate/Helpers.pm and
prepare of PVE/QemuMigrate.pm (qemu-server 9). What an administrator can override is told as the
default: `force` moves a stopped guest in spite of its devices, and only root may say it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from unmask.dialects import qemu, start_ties
from unmask.dialects.excerpt import excerpt
from unmask.dialects.proxmox import disk_ties
from unmask.dialects.proxmox.conf import GuestConfig, Section
from unmask.dialects.proxmox.disk_ties import VOLUME
from unmask.dialects.proxmox.surroundings import Surroundings
from unmask.model.reading import Known, Missing
from unmask.model.tie import Tie, TieKind

LIMIT = 80
NUMBERED = re.compile(r"(?P<name>[a-z][a-z-]*?)\d*", re.ASCII)


def ties(config: GuestConfig, vmid: str, node: str, around: Surroundings) -> tuple[Tie, ...]:
    """Return what holds a guest, in the order of its options, disks last.

    Args:
        config: Of the guest; what is pending is in force after its next start.
        vmid: Its own.
        node: Where it is.
        around: What there is in its cluster.
    """
    now = _of_section(config, vmid, node, around)
    if config.pending is None:
        return now
    kept = {
        key: value for key, value in config.main.values.items() if key not in config.pending.deletes
    }
    later = GuestConfig(Section(kept | dict(config.pending.values)), None, config.snapshots)
    return start_ties.merged(now, _of_section(later, vmid, node, around))


def _of_section(config: GuestConfig, vmid: str, node: str, around: Surroundings) -> tuple[Tie, ...]:
    found: list[Tie] = []
    for key in sorted(config.main.values):
        match = NUMBERED.fullmatch(key)
        finder = FINDERS.get(match["name"]) if match else None
        if finder is not None:
            found += finder(key, config.main.values[key], around)
    found += disk_ties.ties(config, vmid, node, around)
    return tuple(found)


def _options(value: str, first: str) -> dict[str, str]:
    """Return a property string's words; `first` is the name of one that stands alone."""
    found: dict[str, str] = {}
    for part in value.split(","):
        name, sign, word = part.strip().partition("=")
        found.setdefault(name if sign else first, word if sign else name)
    return found


def _pci(key: str, value: str, around: Surroundings) -> Iterator[Tie]:
    options = _options(value, "host")
    if name := options.get("mapping"):
        yield from _mapped("pci", key, name, around)
    else:
        yield Tie(TieKind.PASSTHROUGH, f"{key}: {excerpt(options.get('host', ''), LIMIT)}")


def _usb(key: str, value: str, around: Surroundings) -> Iterator[Tie]:
    options = _options(value, "host")
    host = options.get("host", "")
    if name := options.get("mapping"):
        yield from _mapped("usb", key, name, around)
    elif host.lower() != "spice":
        yield Tie(TieKind.PASSTHROUGH, f"{key}: {excerpt(host, LIMIT)}")


def _directory(key: str, value: str, around: Surroundings) -> Iterator[Tie]:
    name = _options(value, "dirid").get("dirid", "")
    yield from _mapped("dir", key, name, around, TieKind.RESOURCE)


def _mapped(
    sort: str,
    key: str,
    name: str,
    around: Surroundings,
    kind: TieKind = TieKind.PASSTHROUGH,
) -> Iterator[Tie]:
    """The target needs a device of the name; its state is left behind unless it is said to go."""
    what = f"{key}, mapped as {excerpt(name, LIMIT)}"
    mapping = around.mapped(sort, name)
    known = mapping.value if isinstance(mapping, Known) else None
    goes = known is not None and known.live
    if not goes:
        yield Tie(kind, what, live=True, cold=False)
    yield Tie(
        kind,
        what,
        known.nodes if known else (),
        live=goes,
        cold=True,
        unread=mapping if isinstance(mapping, Missing) else None,
    )


def _port(key: str, value: str, _: Surroundings) -> Iterator[Tie]:
    if value != "socket":
        yield Tie(TieKind.RESOURCE, f"{key}: {excerpt(value, LIMIT)}")


def _memory(key: str, value: str, _: Surroundings) -> Iterator[Tie]:
    del value
    yield Tie(TieKind.RESOURCE, f"{key}, memory shared with its node")


def _confidential(key: str, value: str, _: Surroundings) -> Iterator[Tie]:
    sort = excerpt(_options(value, "type").get("type", ""), LIMIT)
    yield Tie(TieKind.CONFIDENTIAL, f"{key}: {sort}", live=True, cold=False)


def _screen(key: str, value: str, _: Surroundings) -> Iterator[Tie]:
    if _options(value, "type").get("clipboard") == "vnc":
        yield Tie(TieKind.RESOURCE, f"{key} with clipboard=vnc", live=True, cold=False)


def _pages(key: str, value: str, _: Surroundings) -> Iterator[Tie]:
    yield start_ties.of_pages(f"{key}: {excerpt(value, 20)}")


def _pinned(key: str, value: str, _: Surroundings) -> Iterator[Tie]:
    """Linux keeps those processors of the list that there are."""
    yield Tie(TieKind.AFFINITY, f"{key}: {excerpt(value, LIMIT)}", live=False, cold=False)


def _numa(key: str, value: str, _: Surroundings) -> Iterator[Tie]:
    nodes = _options(value, "").get("hostnodes", "")
    if nodes:
        said = f"{key} on host NUMA node {excerpt(nodes, 40)}"
        yield start_ties.of_memory_nodes(said, nodes)


def _arguments(key: str, value: str, _: Surroundings) -> Iterator[Tie]:
    return start_ties.of_arguments(qemu.argument_list(value), key)


def _snippets(key: str, value: str, around: Surroundings) -> Iterator[Tie]:
    """A script or piece of cloud-init on local storage: needed where the guest starts."""
    for text in _options(value, "").values():
        match = VOLUME.fullmatch(text)
        storage = around.storage(match["storage"]) if match else None
        if not isinstance(storage, Known) or not storage.value.shared:
            yield start_ties.of_file(f"{key}: {excerpt(text, LIMIT)}")


FINDERS: Mapping[str, Callable[[str, str, Surroundings], Iterator[Tie]]] = {
    "affinity": _pinned,
    "amd-sev": _confidential,
    "args": _arguments,
    "cicustom": _snippets,
    "hookscript": _snippets,
    "hostpci": _pci,
    "hostusb": _usb,
    "hugepages": _pages,
    "intel-tdx": _confidential,
    "ivshmem": _memory,
    "numa": _numa,
    "parallel": _port,
    "serial": _port,
    "usb": _usb,
    "vga": _screen,
    "virtiofs": _directory,
}
