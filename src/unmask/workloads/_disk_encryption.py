"""From a volume to a workload of the kernel that opens it, and what could not be looked for."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from unmask.errors import UnreadError
from unmask.model.finding import Confidence
from unmask.model.inside import CryptoDriver, Inside
from unmask.model.inside_storage import VolumeKind
from unmask.model.inventory import Guest
from unmask.model.reading import Reading
from unmask.model.workload import Activity, Workload, WorkloadKind
from unmask.workloads._asked import entered, shortfalls, system
from unmask.workloads._volume import WORDS, Volume
from unmask.workloads._volumes import MOST, volumes

DM_CRYPT = "dm-crypt"
_WRITTEN = re.compile(r"(?:capi:.*?)?\b(?P<mode>xts|cbc|ctr|gcm|ccm)\((?P<cipher>[a-z0-9]+)\)")
_PLAIN = re.compile(r"(?P<cipher>[a-z0-9]+)-(?P<mode>xts|cbc|ctr|gcm|ccm)\b")


def of_kinds(
    guest: Guest, kind: WorkloadKind, formats: Collection[VolumeKind], consumer: str = DM_CRYPT
) -> Iterator[Workload]:
    """Yield the volumes of these formats as workloads of one kind.

    Raises:
        UnreadError: The guest claims more volumes than are told apart.
    """
    found = volumes(guest)
    inside = entered(guest)
    for volume in found:
        if volume.kind in formats:
            yield _workload(inside, kind, volume, consumer)
    if len(found) >= MOST:
        raise UnreadError(f"it shows {MOST} encrypted volumes or more, and the rest is not read")


def owed(inside: Inside | None) -> None:
    """Raise `UnreadError` where open volumes, or those that are not open, could not be looked for.

    One of several tools that would have shown them is enough.
    """
    if inside is None or system(inside).kernel_name not in ("Linux", ""):
        return
    _owed(inside.dm_crypt, inside.block_devices)
    _owed(inside.block_devices, inside.signatures, inside.luks_headers)


def _owed(*either: Reading[object]) -> None:
    missing = [reading for reading in either if not reading.known]
    if len(missing) == len(either):
        _ = max(missing, key=lambda reading: bool(getattr(reading, "needs", ""))).value


def _workload(inside: Inside | None, kind: WorkloadKind, volume: Volume, consumer: str) -> Workload:
    driver = serving(inside, volume.cipher or "aes-xts-plain64")
    evidence = list(volume.evidence)
    if not volume.cipher and consumer == DM_CRYPT:
        evidence.append("Its cipher was not read: aes-xts, the default, is taken for it.")
    if driver:
        evidence.append(f"The kernel serves {driver.algorithm} by {driver.driver}.")
    if inside and volume.open:
        evidence += shortfalls(inside, "dm_crypt")
    sure = volume.open and inside is not None and inside.root is True
    return Workload(
        kind=kind,
        name=volume.name,
        consumer=consumer,
        cipher=volume.cipher,
        version=system(inside).kernel if inside else "",
        detail=_detail(volume),
        activity=_activity(inside, volume),
        evidence=tuple(evidence),
        confidence=Confidence.CERTAIN if sure else Confidence.FIRM,
        driver=driver.driver if driver else "",
    )


def _detail(volume: Volume) -> str:
    """Return "LUKS2 on vdb, 512-bit key, mounted at /srv"."""
    on = volume.device if volume.device != volume.name else ""
    on = on or (volume.disk if volume.disk != volume.name else "")
    words = [WORDS[volume.kind] + (f" on {on}" if on else "")]
    if volume.key_bits:
        words.append(f"{volume.key_bits}-bit key")
    return ", ".join(filter(None, (*words, volume.used)))


def _activity(inside: Inside | None, volume: Volume) -> Activity:
    if volume.open:
        return Activity.ACTIVE
    if volume.headed and inside and (inside.dm_crypt.known or inside.block_devices.known):
        return Activity.CLOSED
    return Activity.CONFIGURED


def serving(inside: Inside | None, cipher: str) -> CryptoDriver | None:
    """Return the kernel's driver for a cipher as dm-crypt writes it, None where none is known."""
    match = _WRITTEN.search(cipher) or _PLAIN.match(cipher)
    if inside is None or match is None or not inside.crypto_drivers.known:
        return None
    return inside.serving(f"{match['mode']}({match['cipher']})")
