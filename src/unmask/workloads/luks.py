"""LUKS and other dm-crypt volumes, open or not, and disks that QEMU or the host's kernel encrypts.

The cipher comes from the mapping or the header, and the driver from what the kernel says serves it.
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.model.inside_storage import VolumeKind
from unmask.model.inventory import Guest
from unmask.model.workload import Finder, Workload, WorkloadKind
from unmask.workloads import _disk_encryption, _host_parts
from unmask.workloads._asked import entered

FORMATS = frozenset((
    VolumeKind.LUKS, VolumeKind.LUKS1, VolumeKind.LUKS2, VolumeKind.PLAIN, VolumeKind.FILEVAULT,
    VolumeKind.UNKNOWN,
))  # fmt: skip
"""What is reported here; BitLocker and VeraCrypt volumes have kinds of their own."""


def find(guest: Guest) -> Iterator[Workload]:
    """Yield the volumes.

    Raises:
        UnreadError: They could not be looked for inside, or nobody was inside and the host could
            not read a disk; that stands for the other kinds of encrypted disks too.
    """
    yield from _disk_encryption.of_kinds(guest, WorkloadKind.LUKS, FORMATS)
    yield from _host_parts.below(guest, WorkloadKind.LUKS)
    inside = entered(guest)
    _disk_encryption.owed(inside)
    missing = None if inside else _host_parts.unread(guest)
    if missing:
        _ = missing.value


WORKLOAD = Finder(WorkloadKind.LUKS, find)
