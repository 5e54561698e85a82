"""Devices and directories of nodes under one name for the whole cluster: `mapping=NAME`.

Sources: PVE/Mapping/{PCI,USB,Dir}.pm of pve-guest-common 6: a section begins with its name alone,
and `map` is repeated for each node and device.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from unmask.dialects.excerpt import excerpt
from unmask.dialects.proxmox.storage import NAME_LIMIT, switched

FILES = {"pci": "mapping/pci.cfg", "usb": "mapping/usb.cfg", "dir": "mapping/directory.cfg"}
"""Below /etc/pve, by the kind of mapping as the API's `cluster/mapping/KIND` calls it."""

CAPABLE = "live-migration-capable"


@dataclass(frozen=True, slots=True)
class Mapped:
    """One mapping."""

    nodes: tuple[str, ...]
    """The nodes that have a device or directory of this name, sorted."""
    live: bool = False
    """Its administrator says that the device's state can be migrated."""


def parse(text: str) -> Mapping[str, Mapped]:
    """Return the mappings of one of the files by name."""
    sections: dict[str, tuple[list[str], dict[str, str]]] = {}
    maps: list[str] = []
    keys: dict[str, str] = {}
    for line in text.splitlines():
        if line[:1].isspace():
            key, _, value = line.strip().partition(" ")
            if key == "map":
                maps.append(value.strip())
            else:
                keys[key] = value.strip()
        elif line.strip() and not line.startswith("#"):
            maps, keys = sections.setdefault(line.strip(), ([], {}))
    return {name: _mapped(maps, keys) for name, (maps, keys) in sections.items()}


def of_rows(rows: Iterable[Mapping[str, Any]]) -> Mapping[str, Mapped]:
    """Return the mappings of an answer to `GET /cluster/mapping/KIND` by name."""
    found = {}
    for row in rows:
        listed = row.get("map")
        maps = (
            [item for item in listed if isinstance(item, str)] if isinstance(listed, list) else []
        )
        capable = row.get(CAPABLE)
        keys = {CAPABLE: str(int(capable) if isinstance(capable, bool) else capable)}
        found[str(row.get("id", ""))] = _mapped(maps, keys if capable is not None else {})
    return found


def _mapped(maps: Iterable[str], keys: Mapping[str, str]) -> Mapped:
    nodes = {
        excerpt(part.partition("=")[2], NAME_LIMIT)
        for entry in maps
        for part in entry.split(",")
        if part.startswith("node=")
    }
    return Mapped(tuple(sorted(nodes)), live=switched(keys, CAPABLE))
