"""The guests of a libvirt host: by their agent, their addresses, and the sectors of their disks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from unmask.connect.libvirt_guest import LibvirtHost, open_host
from unmask.errors import UnreadError
from unmask.model.disk import Disk
from unmask.model.inventory import Guest, Inventory
from unmask.model.reading import Reading
from unmask.model.source import CollectOptions
from unmask.sources.libvirt import fits, is_local
from unmask.visits import _libvirt_addresses, _libvirt_disks
from unmask.visits._channel import Channel, Hypervisor, NoWayError
from unmask.visits._libvirt_agent import LibvirtAgent


class LibvirtChannel:
    """A libvirt host's way to its guests; see `unmask.visits._channel.Channel`."""

    def __init__(self, host: LibvirtHost) -> None:
        self._host = host

    def agent(self, guest: Guest) -> LibvirtAgent:
        """Return the guest agent of a domain, without asking whether it is there."""
        return LibvirtAgent(self._host.domain(guest.ident))

    def addresses(self, guest: Guest) -> tuple[str, ...]:
        """Return the addresses of a running domain, the likeliest to be reached first."""
        return _libvirt_addresses.addresses(self._host.domain(guest.ident))

    def disks(self, guest: Guest, seconds: float) -> Reading[tuple[Disk, ...]]:
        """Return the disks of a domain and what their first sectors say."""
        try:
            return _libvirt_disks.disks(self._host.domain(guest.ident), guest, seconds)
        except UnreadError as error:
            raise NoWayError(error.reason, error.needs) from error


def open_channel(
    target: str, options: CollectOptions, _inventory: Inventory
) -> AbstractContextManager[Channel]:
    """Open a connection of its own to the host, which is closed at the end of the context.

    Raises:
        MissingPackageError: libvirt-python is not installed.
        TargetError: libvirt cannot be reached, refuses, or does not answer in time.
    """
    return _kept(open_host(target, options.timeout, local=is_local(target)))


@contextmanager
def _kept(host: LibvirtHost) -> Iterator[Channel]:
    try:
        yield LibvirtChannel(host)
    finally:
        host.close()


HYPERVISOR = Hypervisor(name="libvirt", fits=fits, open=open_channel)
