"""What a guest's disks tie it to.

Source: prepare and scan_local_volumes of PVE/QemuMigrate.pm (qemu-server 9): a volume on shared
storage stays where it is, if the target has the storage; a local one is copied to the storage of
the same name, unless it is an ISO image, a linked clone or another guest's. Snapshots of a local
disk stop a live migration, and a cold one but on ZFS, raw on Btrfs, and in qcow2. A replicated
guest goes live only where it is replicated to. What `force` or `targetstorage` would override is
told as the default.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from unmask.dialects.excerpt import excerpt
from unmask.dialects.proxmox.conf import GuestConfig, Section
from unmask.dialects.proxmox.disks import drive
from unmask.dialects.proxmox.storage import Storage
from unmask.dialects.proxmox.surroundings import Surroundings
from unmask.model.reading import Missing
from unmask.model.tie import Tie, TieKind

DRIVE = re.compile(r"(?:ide|sata|scsi|virtio)\d{1,3}|efidisk0|tpmstate0", re.ASCII)
MOUNT = re.compile(r"rootfs|mp\d{1,3}", re.ASCII)
UNUSED = re.compile(r"unused\d{1,3}", re.ASCII)
VOLUME = re.compile(
    r"(?P<storage>[a-z][a-z0-9._-]*[a-z0-9]):(?P<name>.+)", re.ASCII | re.IGNORECASE
)
CLOUD_INIT = re.compile(r"vm-\d+-cloudinit", re.ASCII)
OWNER = re.compile(
    r"(?:^|/)(?:(?P<folder>\d+)/[^/]+|(?:vm|base|subvol)-(?P<vmid>\d+)-[^/]*)", re.ASCII
)
"""On a directory the folder tells whose a volume is, elsewhere its name."""
CLONE = re.compile(r"(?:^|/)base-\d+-[^/]+/", re.ASCII)
COPIED = ("btrfs", "dir", "lvm", "lvmthin", "zfspool")
"""Types of local storage whose volumes a migration copies."""
REPLICATED = "zfspool"
"""The one type of storage that can replicate."""
LIMIT = 100
"""Characters of a volume."""
MOST = 128
"""Volumes of one guest that are looked at."""


@dataclass(frozen=True, slots=True)
class _Volume:
    """A volume that a configuration refers to."""

    key: str
    """"scsi0", or "snapshot NAME"."""
    text: str
    """"STORAGE:NAME", a path of the node, "none" or "cdrom"."""
    cdrom: bool = False
    shared: bool = False
    """Of a path: the administrator says that it is the same everywhere."""
    replicated: bool = False
    kept: bool = False
    """A snapshot refers to it."""


def ties(config: GuestConfig, vmid: str, node: str, around: Surroundings) -> Iterator[Tie]:
    """Yield what the guest's disks, drives and saved states tie it to.

    Args:
        config: Of the guest.
        vmid: Its own.
        node: Where it is.
        around: What there is in its cluster.
    """
    volumes = _volumes(config, DRIVE)[:MOST]
    found = [tie for volume in volumes for tie in _tie(volume, vmid, node, around)]
    yield from found
    targets = around.replicas.get(vmid)
    if around.unreplicated and any(tie.copied_to for tie in found):
        yield Tie(TieKind.LOCAL_DISK, "replication", cold=False, unread=around.unreplicated)
    if targets:
        names = ", ".join(sorted(targets))
        said = f"replication to {names}"
        yield Tie(TieKind.LOCAL_DISK, said, tuple(sorted(targets)), live=True, cold=False)


def of_container(config: GuestConfig, vmid: str, node: str, around: Surroundings) -> Iterator[Tie]:
    """Yield what a container's mount points tie it to (PVE/LXC/Migrate.pm); none ever goes live."""
    for volume in _volumes(config, MOUNT)[:MOST]:
        for tie in _tie(volume, vmid, node, around):
            directory = tie.kind is TieKind.PASSTHROUGH
            yield replace(tie, kind=TieKind.RESOURCE) if directory else tie


def _volumes(config: GuestConfig, drives: re.Pattern[str]) -> list[_Volume]:
    """Return the volumes, each once: as the guest has it now, or else as a snapshot does."""
    main = config.main.values
    stored = {
        text: name
        for name, section in sorted(config.snapshots.items())
        for _, text, options in _drives(section, drives)
        if options.get("media") != "cdrom"
    }
    # The API tells of a snapshot without memory only that there is one: it has what was there then.
    unseen = bool(main.get("parent")) and main["parent"] not in config.snapshots
    found: dict[str, _Volume] = {}
    for key, text, options in _drives(config.main, drives):
        found[text] = _Volume(
            key,
            text,
            cdrom=options.get("media") == "cdrom",
            shared=options.get("shared") == "1",
            replicated=options.get("replicate", "1") != "0",
            kept=text in stored or (unseen and not UNUSED.fullmatch(key)),
        )
    for text, name in stored.items():
        found.setdefault(text, _Volume(f"snapshot {name}", text, replicated=True, kept=True))
    sections = {"the saved state": main}
    sections |= {f"snapshot {name}": part.values for name, part in config.snapshots.items()}
    for key, values in sections.items():
        if "vmstate" in values:
            found.setdefault(values["vmstate"], _Volume(key, values["vmstate"]))
    return list(found.values())


def _drives(
    section: Section, drives: re.Pattern[str]
) -> Iterator[tuple[str, str, Mapping[str, str]]]:
    """Yield key, volume and options of the drives and disks that are not in use."""
    for key in sorted(section.values):
        if drives.fullmatch(key) or UNUSED.fullmatch(key):
            text, options = drive(section.values[key])
            if text not in ("", "none"):
                yield key, text, options


def _tie(volume: _Volume, vmid: str, node: str, around: Surroundings) -> Iterator[Tie]:
    match = VOLUME.fullmatch(volume.text)
    if volume.text == "cdrom":
        yield Tie(TieKind.PASSTHROUGH, f"{volume.key}, the CD drive of its node")
    elif volume.text.startswith("/") or match is None:
        if not volume.shared:
            yield Tie(TieKind.PASSTHROUGH, f"{volume.key}: {excerpt(volume.text, LIMIT)}")
    else:
        name = excerpt(match["storage"], LIMIT)
        what = f"{excerpt(volume.key, LIMIT)} on {name}"
        storage = around.storage(match["storage"])
        if storage is None:
            yield Tie(TieKind.STORAGE, f"{what}, a storage that is not configured")
        elif isinstance(storage, Missing):
            yield Tie(TieKind.LOCAL_DISK, what, unread=storage)
        else:
            place = _Place(volume, what, storage.value, match["name"], vmid, node, around)
            yield from place.ties()


@dataclass(frozen=True, slots=True)
class _Place:
    """A volume on a storage that is known."""

    volume: _Volume
    what: str
    storage: Storage
    name: str
    """Of the volume on its storage."""
    vmid: str
    node: str
    around: Surroundings

    @property
    def others(self) -> tuple[str, ...]:
        """Return the other nodes that have the storage."""
        return tuple(name for name in self.storage.of(self.around.nodes) if name != self.node)

    def ties(self) -> Iterator[Tie]:
        """Yield what the volume ties its guest to."""
        if self.storage.disabled:
            yield Tie(TieKind.STORAGE, f"{self.what}, which is disabled")
        elif self.storage.shared is None:
            reason = f"whether storage of the type {self.storage.kind} is shared"
            needs = f"`shared 1` in storage.cfg for {self.storage.name}, where it is"
            yield Tie(
                TieKind.LOCAL_DISK, self.what, unread=Missing(f"{reason} is not known", needs)
            )
        elif self.storage.shared:
            if not set(self.around.nodes) <= {*self.storage.of(self.around.nodes), self.node}:
                yield Tie(TieKind.STORAGE, self.what, self.others)
        elif self.volume.cdrom:
            yield self._medium()
        elif fixed := self._fixed():
            yield Tie(TieKind.LOCAL_DISK, f"{self.what}, {fixed}")
        else:
            yield from self._copies()

    def _medium(self) -> Tie:
        """A cloud-init drive is copied, an ISO image is not, even where the target has it."""
        copied_to = self.others if CLOUD_INIT.search(self.name) else ()
        return Tie(TieKind.LOCAL_FILE, self.what, copied_to=copied_to)

    def _fixed(self) -> str:
        """Return why no migration copies the volume, "" where it does."""
        if self.storage.kind not in COPIED:
            return f"a storage of the type {self.storage.kind} that is not copied"
        if CLONE.search(self.name):
            return "a linked clone"
        owner = OWNER.fullmatch(self.name)
        if owner is None or (owner["folder"] or owner["vmid"]) != self.vmid:
            return "the volume of another guest"
        return ""

    def _copies(self) -> Iterator[Tie]:
        have: tuple[str, ...] = ()
        if self.volume.replicated and self.storage.kind == REPLICATED:
            targets = self.around.replicas.get(self.vmid, frozenset())
            have = tuple(sorted(targets & set(self.others)))
        copied_to = tuple(name for name in self.others if name not in have)
        if not self.volume.kept:
            yield Tie(TieKind.LOCAL_DISK, self.what, have, copied_to=copied_to)
            return
        what = f"{self.what}, with snapshots"
        yield Tie(TieKind.LOCAL_DISK, what, have, live=True, cold=False)
        copied_to = copied_to if self._with_snapshots() else ()
        yield Tie(TieKind.LOCAL_DISK, what, have, live=False, cold=True, copied_to=copied_to)

    def _with_snapshots(self) -> bool:
        """Return whether a cold move copies the volume with its snapshots."""
        if self.name.endswith(".qcow2"):
            return not self.storage.chained
        return self.storage.kind in (REPLICATED, "btrfs")
