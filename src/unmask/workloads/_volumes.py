"""Encrypted volumes of a guest: one record for each, whoever told of it.

lsblk, blkid, cryptsetup, dmsetup, /etc/crypttab and the host, which reads the disks from outside,
may all speak of the same volume, under different names. They are laid together by the device, by
the name it is open under, and where neither is known by format, cipher and key: that may join two
volumes that are alike, and never makes two of one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from unmask.model.inside import Inside
from unmask.model.inside_storage import (
    BlockDevice,
    CrypttabEntry,
    DmCrypt,
    LuksHeader,
    VolumeKind,
)
from unmask.model.inventory import Guest
from unmask.workloads._asked import entered, said
from unmask.workloads._host_parts import HostPart, host_parts
from unmask.workloads._volume import HEADED, SIGNATURES, WORDS, Volume, described

MOST = 200
"""Volumes of one guest that are told apart; a guest that claims more is not believed."""
ENOUGH = 2 * MOST


def volumes(guest: Guest) -> list[Volume]:
    """Return every encrypted volume that was seen in a guest or on its disks."""
    register = _Register()
    inside = entered(guest)
    if inside:
        register.look(inside)
    for part in host_parts(guest):
        if part.kind is not None:
            register.host_part(part, part.kind)
    return register.found


@dataclass(slots=True)
class _Register:
    """The volumes as they are told of one after the other."""

    found: list[Volume] = field(default_factory=list)
    divided: set[str] = field(default_factory=set)
    """Disks with partitions: what looks like a header on them is left over from before."""
    taken: set[int] = field(default_factory=set)
    """Volumes, by `id`, that a part of the host's disks has been found to be."""

    def look(self, inside: Inside) -> None:
        """Take all that was read inside, the surest links first.

        Of what a guest lists without end, enough is taken to find too many volumes.
        """
        self.block_devices(said(inside.block_devices, ()))
        signs = [item for item in said(inside.signatures, ()) if item.kind in SIGNATURES]
        for signature in signs[:ENOUGH]:
            self.signature(_basename(signature.device), SIGNATURES[signature.kind])
        for header in said(inside.luks_headers, ())[:ENOUGH]:
            self.header(header)
        crypttab = said(inside.crypttab, ())[:ENOUGH]
        for mapping in said(inside.dm_crypt, ())[:ENOUGH]:
            self.mapping(mapping, crypttab, linked=inside.block_devices.known)
        for entry in crypttab:
            self.crypttab(entry)

    def add(self, kind: VolumeKind, device: str = "", mapping: str = "") -> Volume:
        """Return a new volume, which is lost where there are too many."""
        volume = Volume(kind, device, mapping)
        if len(self.found) < MOST:
            self.found.append(volume)
        return volume

    def on(self, device: str) -> Volume | None:
        """Return the volume on a device of this name."""
        return next((item for item in self.found if device and item.device == device), None)

    def called(self, mapping: str) -> Volume | None:
        """Return the volume that is open under a name."""
        return next((item for item in self.found if mapping and item.mapping == mapping), None)

    def block_devices(self, devices: tuple[BlockDevice, ...]) -> None:
        """Take what lsblk shows."""
        devices = _upright(devices)
        parents = _divided(devices)
        self.divided = {devices[index].name for index in parents} - {""}
        by_index: dict[int, Volume] = {}
        for index, item in enumerate(devices):
            kind = SIGNATURES.get(item.filesystem)
            if kind and index not in parents:
                volume = self.on(item.name) or self.add(kind, item.name)
                volume.headed, volume.size = True, item.size
                by_index[index] = volume
            if item.kind == "crypt" or (not item.kind and item.parent in by_index):
                self.opened(devices, index, by_index)
        for volume in self.found:
            if not volume.open:
                volume.say(f"lsblk shows {WORDS[volume.kind]} on {volume.device or 'a device'}.")

    def opened(
        self, devices: tuple[BlockDevice, ...], index: int, by_index: dict[int, Volume]
    ) -> None:
        """Take a device of the type "crypt", which is an open volume."""
        item = devices[index]
        below = _base(devices, index)
        parent = devices[below].name if below is not None else ""
        volume = by_index.get(below) if below is not None else None
        volume = volume or self.called(item.name) or self.on(parent)
        if volume is None:
            volume = self.add(VolumeKind.UNKNOWN, parent, item.name)
        if volume.open or len(self.found) == MOST:
            return  # it is shown below each of its disks
        volume.open, volume.mapping = True, item.name
        volume.mountpoints = _mounted(devices, index)
        what = item.name or "a volume"
        used = f", {volume.used}" if volume.used else ""
        volume.say(f"lsblk shows {what} open on {parent or 'its device'}{used}.")

    def signature(self, device: str, kind: VolumeKind) -> None:
        """Take what blkid finds."""
        if device in self.divided:
            return
        volume = self.on(device)
        if volume is None:
            volume = self.add(kind, device)
            volume.say(f"blkid finds {WORDS[kind]} on {device}.")
        volume.headed = True
        volume.learn(kind, "", None)

    def header(self, header: LuksHeader) -> None:
        """Take a header that cryptsetup has read."""
        device = _basename(header.device)
        volume = self.on(device) or self.add(header.kind, device)
        volume.headed = True
        volume.learn(header.kind, header.cipher, header.key_bits)
        what = described(header.kind, header.cipher, header.key_bits)
        volume.say(f"Its header on {device} says {what}.")

    def mapping(
        self, mapping: DmCrypt, crypttab: tuple[CrypttabEntry, ...], *, linked: bool
    ) -> None:
        """Take an open mapping; `linked` says that lsblk has told which device each one is on."""
        volume = self.called(mapping.name)
        if volume is None:
            sources = [entry.sources for entry in crypttab if entry.name == mapping.name]
            volume = next(filter(None, map(self.on, map(_basename, _flat(sources)))), None)
        if volume is None and mapping.kind in HEADED and not linked:
            volume = self.alike(mapping.kind, mapping.cipher, mapping.key_bits)
        volume = volume or self.add(mapping.kind)
        volume.open, volume.mapping = True, mapping.name
        volume.learn(mapping.kind, mapping.cipher, mapping.key_bits)
        what = described(volume.kind, mapping.cipher, mapping.key_bits)
        where = volume.device or mapping.device
        on = f" on {where}" if where else ""
        volume.evidence.insert(0, f"The device mapper shows {mapping.name} open{on}: {what}.")

    def alike(self, kind: VolumeKind, cipher: str, key_bits: int | None) -> Volume | None:
        """Return a volume that is not known to be open or listed and may be the one meant."""
        return next(
            (
                item
                for item in self.found
                if not item.mapping and not item.listed and item.fits(kind, cipher, key_bits)
            ),
            None,
        )

    def crypttab(self, entry: CrypttabEntry) -> None:
        """Take a line of /etc/crypttab."""
        devices = [_basename(source) for source in entry.sources if source.startswith("/dev/")]
        volume = self.called(entry.name) or next(filter(None, map(self.on, devices)), None)
        by_name = all("=" in source or "/by-" in source for source in entry.sources)
        if volume is None and by_name and entry.kind in HEADED:
            volume = self.alike(entry.kind, entry.cipher, entry.key_bits)
        if volume is None:
            volume = self.add(entry.kind, "", entry.name)
        volume.listed = True
        volume.mapping = volume.mapping or entry.name
        volume.learn(entry.kind, entry.cipher, entry.key_bits)
        boot = "opens it at boot" if entry.automatic else "does not open it at boot"
        volume.say(f"/etc/crypttab names it {entry.name} and {boot}.")

    def host_part(self, part: HostPart, kind: VolumeKind) -> None:
        """Take what the host sees on a disk."""
        fitting = [
            item
            for item in self.found
            if id(item) not in self.taken
            and not item.device.startswith("loop")
            and item.kind is not VolumeKind.PLAIN
            and item.fits(kind, part.cipher, part.key_bits)
            and not (item.size.isdigit() and part.size and int(item.size) != part.size)
        ]
        fitting.sort(key=lambda item: item.device != part.device)
        volume = fitting[0] if fitting else self.add(kind)
        self.taken.add(id(volume))
        volume.disk = part.place
        volume.learn(kind, part.cipher, part.key_bits)
        what = described(kind, part.cipher, part.key_bits)
        volume.say(f"The host sees on {part.place}: {what}.")


def _upright(devices: tuple[BlockDevice, ...]) -> tuple[BlockDevice, ...]:
    """Return the devices without parents that are none, as a file altered by hand may have them."""
    return tuple(
        item if item.parent is None or 0 <= item.parent < index else replace(item, parent=None)
        for index, item in enumerate(devices)
    )


def _divided(devices: tuple[BlockDevice, ...]) -> set[int]:
    """Return the devices with partitions; without types, those with more than one device on them.

    A volume has one mapping on it.
    """
    above = Counter(item.parent for item in devices if not item.kind)
    parts = {item.parent for item in devices if item.kind == "part"}
    parts |= {parent for parent, count in above.items() if count > 1}
    return {parent for parent in parts if parent is not None}


def _base(devices: tuple[BlockDevice, ...], index: int) -> int | None:
    """Return the device below an open volume, past the mapping that holds its integrity tags."""
    below = devices[index].parent
    if below is not None and devices[below].kind == "crypt":
        return devices[below].parent if devices[below].name.endswith("_dif") else below
    return below


def _mounted(devices: tuple[BlockDevice, ...], index: int) -> tuple[str, ...]:
    """Return where a device and what lies on it (LVM) is mounted, shortest path first."""
    inner = {index}
    places = list(devices[index].mountpoints)
    for number in range(index + 1, len(devices)):
        if devices[number].parent in inner:
            inner.add(number)
            places += devices[number].mountpoints
    return tuple(sorted(dict.fromkeys(places), key=len))


def _basename(device: str) -> str:
    return device.rpartition("/")[2]


def _flat(groups: Iterable[tuple[str, ...]]) -> list[str]:
    return [item for group in groups for item in group if item.startswith("/dev/")]
