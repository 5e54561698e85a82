"""What the host sees on a guest's disks from outside, and what it encrypts there itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from unmask.model.disk import Disk, DiskPart, HostEncryption
from unmask.model.finding import Confidence
from unmask.model.inside_storage import VolumeKind
from unmask.model.inventory import Guest, GuestState
from unmask.model.reading import Missing
from unmask.model.workload import Activity, Workload, WorkloadKind
from unmask.workloads._asked import said

KINDS = {
    "luks1": VolumeKind.LUKS1,
    "luks2": VolumeKind.LUKS2,
    "bitlocker": VolumeKind.BITLOCKER,
}
"""Parts that hold ciphertext for sure, of the formats that systems share."""
_RUNS = (GuestState.RUNNING, GuestState.PAUSED)


@dataclass(frozen=True, slots=True)
class HostPart:
    """A part of a disk, with where it is for people."""

    place: str
    """"scsi1, partition 2"."""
    device: str
    """What Linux would call it if the disk has its name there: "vdb2"."""
    part: DiskPart

    @property
    def kind(self) -> VolumeKind | None:
        """Return the format; None for what holds none of these or is in the clear."""
        return KINDS.get(self.part.kind) if self.part.encrypted else None

    @property
    def cipher(self) -> str:
        """Return the cipher, "" where it was not read."""
        return self.part.cipher

    @property
    def key_bits(self) -> int | None:
        """Return the bits of the key, None where they were not read."""
        return self.part.key_bits

    @property
    def size(self) -> int | None:
        """Return the bytes of the part, None where they are not known."""
        return self.part.size


def host_parts(guest: Guest) -> Iterator[HostPart]:
    """Yield the parts of the guest's disks that are not the host's own encryption."""
    for disk in said(guest.visit.disks, ()):
        for part in said(disk.parts, ()):
            if not _of_the_host(disk, part):
                number = part.number
                place = f"{disk.name}, partition {number}" if number else disk.name
                digit = "p" if disk.name[-1:].isdigit() else ""
                yield HostPart(place, f"{disk.name}{digit}{number}" if number else disk.name, part)


def unread(guest: Guest) -> Missing | None:
    """Return why the first disk that the host could not look into stays unknown, None for none.

    What the host itself encrypts is no gap: it is known to be encrypted.
    """
    for disk in said(guest.visit.disks, ()):
        if disk.encryption:
            continue
        if isinstance(disk.parts, Missing):
            return Missing(f"{disk.name}: {disk.parts.reason}", disk.parts.needs)
        for part in disk.parts.value:
            if part.unread:
                return Missing(f"{disk.name}, partition {part.number}: {part.unread}")
    return None


def _of_the_host(disk: Disk, part: DiskPart) -> bool:
    """Return whether a LUKS header is the one of a disk that QEMU encrypts for the guest."""
    whole = part.number is None and part.kind in ("luks1", "luks2")
    return whole and any(item.kind == "luks" for item in disk.encryption)


def below(guest: Guest, kind: WorkloadKind) -> Iterator[Workload]:
    """Yield the encryption of this kind that the host does below the guest's disks."""
    for disk in said(guest.visit.disks, ()):
        for item in disk.encryption:
            if kind_of(item) is kind:
                yield _workload(guest, disk, item, kind)


def kind_of(encryption: HostEncryption) -> WorkloadKind:
    """Return under which kind the host's encryption is reported."""
    return WorkloadKind.ZFS if encryption.kind == "zfs" else WorkloadKind.LUKS


def _workload(guest: Guest, disk: Disk, item: HostEncryption, kind: WorkloadKind) -> Workload:
    cipher = f" with {item.cipher}" if item.cipher else ""
    who = f"On the host, {item.where}" if item.where else "The host"
    return Workload(
        kind=kind,
        name=disk.name,
        consumer="",
        cipher=item.cipher,
        detail=f"{item.kind} on the host",
        activity=Activity.ACTIVE if guest.state in _RUNS else Activity.CONFIGURED,
        evidence=(f"{who} encrypts {disk.name}{cipher}: the guest's CPU plays no part.",),
        confidence=Confidence.FIRM,
        host_side=True,
    )
