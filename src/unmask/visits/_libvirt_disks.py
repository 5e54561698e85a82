# ruff: noqa: ARG001
"""Placeholder until the module of libvirt's disks lands."""

from unmask.connect.libvirt_guest import DomainAccess
from unmask.model.disk import Disk
from unmask.model.inventory import Guest
from unmask.model.reading import Reading
from unmask.visits._channel import NoWayError


def disks(access: DomainAccess, guest: Guest, seconds: float) -> Reading[tuple[Disk, ...]]:
    """Refuse."""
    raise NoWayError("not built yet")
