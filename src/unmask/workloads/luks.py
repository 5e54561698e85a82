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
    """Yield the volumes; raises `UnreadError` where they could not be looked for inside."""
    yield from _disk_encryption.of_kinds(guest, WorkloadKind.LUKS, FORMATS)
    yield from _host_parts.below(guest, WorkloadKind.LUKS)
    _disk_encryption.owed(entered(guest))


WORKLOAD = Finder(WorkloadKind.LUKS, find)
