"""What the value of `--cpu` would be for each guest that is asked about."""

from __future__ import annotations

from collections.abc import Iterable

from unmask.dialects.libvirt import asked_cpu as libvirt
from unmask.dialects.proxmox import asked_cpu as proxmox
from unmask.errors import InputError, UsageError
from unmask.model.cpu import CpuSpec
from unmask.model.inventory import Guest, GuestKind, Inventory, Platform


def specs(inventory: Inventory, guests: Iterable[Guest], value: str) -> dict[str, CpuSpec]:
    """Return the CPU that each virtual machine among `guests` would have, by subject.

    Raises:
        UsageError: The value is none for one of them.
    """
    hosts = {host.subject: host for host in inventory.hosts}
    clusters = {cluster.subject: cluster for cluster in inventory.clusters}
    found: dict[str, CpuSpec] = {}
    for guest in guests:
        if guest.kind is not GuestKind.VM:
            continue
        host = hosts.get(guest.host)
        cluster = clusters.get(host.cluster) if host else None
        try:
            if guest.platform is Platform.PROXMOX:
                found[guest.subject] = proxmox.spec(value, guest, host, cluster)
            elif guest.platform is Platform.LIBVIRT:
                found[guest.subject] = libvirt.spec(value, guest)
        except InputError as error:
            reason = " ".join(str(error).split())
            raise UsageError(f"--cpu {value} is none for {guest.subject}: {reason}") from error
    return found
