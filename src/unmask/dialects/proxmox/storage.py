"""The storages of a cluster: which are shared, and which nodes have them.

Sources: PVE/Storage/Plugin.pm and PVE/Storage.pm of libpve-storage-perl 9: `@SHARED_STORAGE` are
shared whatever is configured; `local`, a directory, is there even where storage.cfg has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from unmask.dialects.excerpt import excerpt
from unmask.dialects.proxmox import cpu_option, section_file

SHARED = frozenset({
    "cephfs", "cifs", "drbd", "glusterfs", "iscsi", "iscsidirect", "nfs", "pbs", "rbd", "sheepdog",
    "zfs",
})  # fmt: skip
"""Types that are shared by their nature; "zfs" is ZFS over iSCSI."""

LOCAL = frozenset({"btrfs", "dir", "esxi", "lvm", "lvmthin", "zfspool"})
"""Types that are a node's own unless `shared` is set."""

LIST = re.compile(r"[,;\s\0]+")
NAME_LIMIT = 100


@dataclass(frozen=True, slots=True)
class Storage:
    """One storage as it is configured for the whole cluster."""

    name: str
    kind: str
    """Its type: "dir", "zfspool", "rbd"."""
    shared: bool | None
    """None for a type of a plug-in that is not Proxmox's own."""
    nodes: tuple[str, ...] = ()
    """The nodes that have it, sorted; none for all."""
    disabled: bool = False
    chained: bool = False
    """Snapshots are volumes of their own (`snapshot-as-volume-chain`)."""

    def of(self, nodes: Iterable[str]) -> tuple[str, ...]:
        """Return those of a cluster's nodes that have it."""
        return self.nodes or tuple(nodes)


DEFAULT = Storage("local", "dir", shared=False)


def parse(text: str) -> Mapping[str, Storage]:
    """Return the storages of a storage.cfg by name."""
    found = {DEFAULT.name: DEFAULT}
    for head, keys in section_file.parse(text).items():
        kind, colon, name = head.partition(":")
        if colon:
            found[name.strip()] = _storage(kind.strip(), name.strip(), keys)
    return found


def of_rows(rows: Iterable[Mapping[str, Any]]) -> Mapping[str, Storage]:
    """Return the storages of an answer to `GET /storage` by name."""
    found = {}
    for row in rows:
        keys = {key: _text(value) for key, value in row.items()}
        name = keys.get("storage", "")
        found[name] = _storage(keys.get("type", ""), name, keys)
    return found


def _text(value: Any) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def _storage(kind: str, name: str, keys: Mapping[str, str]) -> Storage:
    shared = True if kind in SHARED or switched(keys, "shared") else None
    if shared is None and kind in LOCAL:
        shared = False
    return Storage(
        name=excerpt(name, NAME_LIMIT),
        kind=excerpt(kind, NAME_LIMIT),
        shared=shared,
        nodes=names(keys.get("nodes", "")),
        disabled=switched(keys, "disable"),
        chained=switched(keys, "snapshot-as-volume-chain"),
    )


def switched(keys: Mapping[str, str], name: str) -> bool:
    """Return whether a boolean of a section is on; one without a value is (PVE/SectionConfig)."""
    value = keys.get(name)
    return value is not None and (not value or bool(cpu_option.TRUE.fullmatch(value)))


def names(value: str) -> tuple[str, ...]:
    """Return the names of a list, sorted, without the priority that a node may have behind it."""
    found = {excerpt(word.partition(":")[0], NAME_LIMIT) for word in LIST.split(value) if word}
    return tuple(sorted(found))
