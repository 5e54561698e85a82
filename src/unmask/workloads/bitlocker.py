"""BitLocker volumes: of Windows, and those that Linux opens or leaves alone.

Windows encrypts with its own code, Linux through dm-crypt. Where only the host has seen the volume,
it belongs to Windows: nothing else makes one.
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.model.finding import Confidence
from unmask.model.inside import UNASKED, Inside
from unmask.model.inside_storage import BitLockerVolume, VolumeKind
from unmask.model.inventory import Guest
from unmask.model.workload import Activity, Finder, Workload, WorkloadKind
from unmask.workloads import _disk_encryption
from unmask.workloads._asked import entered, owed, said, shortfalls, system
from unmask.workloads._host_parts import HostPart, host_parts

WINDOWS = "windows"
FORMATS = frozenset((VolumeKind.BITLOCKER,))


def find(guest: Guest) -> Iterator[Workload]:
    """Yield the volumes; raises `UnreadError` where Windows or Linux did not tell of them."""
    inside = entered(guest)
    if inside and (inside.dm_crypt != UNASKED or system(inside).kernel_name == "Linux"):
        yield from _disk_encryption.of_kinds(guest, WorkloadKind.BITLOCKER, FORMATS)
        _disk_encryption.owed(inside)
        return
    if inside is None or not inside.bitlocker.known:
        yield from _disk_encryption.of_kinds(guest, WorkloadKind.BITLOCKER, FORMATS, WINDOWS)
    else:
        yield from _windows(inside, [part for part in host_parts(guest) if part.kind in FORMATS])
    if inside:
        owed(inside.bitlocker)


def _windows(inside: Inside, parts: list[HostPart]) -> Iterator[Workload]:
    """Yield what Windows tells, each with the part of a disk that fits it, then the other parts."""
    left = list(parts)
    for volume in said(inside.bitlocker, ()):
        if volume.method == "hardware":
            yield _by_the_drive(volume)
        elif volume.encrypted or volume.status in ("encrypted", "encrypting", "paused"):
            part = next((item for item in left if _fits(item, volume)), None)
            if part:
                left.remove(part)
            yield _volume(inside, volume, part)
    for part in left:
        yield _elsewhere(inside, part)


def _fits(part: HostPart, volume: BitLockerVolume) -> bool:
    return not (part.cipher and volume.method) or part.cipher == volume.method


def _volume(inside: Inside, volume: BitLockerVolume, part: HostPart | None) -> Workload:
    method = volume.method or (part.cipher if part else "")
    evidence = [f"Windows says that {volume.volume} is {_state(volume)}."]
    if part:
        evidence.append(f"The host sees BitLocker on {part.place}.")
    if not method:
        evidence.append("Its method was not read: XTS-AES, the default, is taken for it.")
    if volume.protected is False:
        evidence.append("Its protection is suspended: the data is encrypted all the same.")
    return Workload(
        kind=WorkloadKind.BITLOCKER,
        name=volume.volume,
        consumer=WINDOWS,
        cipher=method,
        version=system(inside).kernel,
        detail=", ".join(filter(None, (method, volume.status))),
        activity=Activity.CLOSED if volume.locked else Activity.ACTIVE,
        evidence=(*evidence, *shortfalls(inside, "bitlocker")),
        confidence=Confidence.FIRM if volume.locked or not method else Confidence.CERTAIN,
    )


def _state(volume: BitLockerVolume) -> str:
    words = (volume.status or "encrypted", volume.method and f"with {volume.method}")
    return " ".join(filter(None, words)) + (", and locked" if volume.locked else "")


def _by_the_drive(volume: BitLockerVolume) -> Workload:
    return Workload(
        kind=WorkloadKind.BITLOCKER,
        name=volume.volume,
        consumer="",
        detail="encrypted by the drive itself",
        activity=Activity.ACTIVE,
        evidence=(f"Windows leaves the encryption of {volume.volume} to the drive.",),
        host_side=True,
    )


def _elsewhere(inside: Inside, part: HostPart) -> Workload:
    return Workload(
        kind=WorkloadKind.BITLOCKER,
        name=part.place,
        consumer=WINDOWS,
        cipher=part.cipher,
        version=system(inside).kernel,
        detail=part.cipher or "BitLocker",
        activity=Activity.CONFIGURED,
        evidence=(f"The host sees BitLocker on {part.place}, and Windows does not name it.",),
    )


WORKLOAD = Finder(WorkloadKind.BITLOCKER, find)
