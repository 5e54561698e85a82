"""Look into the guests of a libvirt host: agent, addresses, sectors of disks. It changes nothing.

One connection serves many threads, which libvirt allows. Any call can hang for ever, so each is
made in a daemon thread that is left behind at its deadline.
"""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from types import ModuleType
from typing import Any, TypeVar

from unmask.connect import libvirt_client as library
from unmask.connect import libvirt_errors as errors
from unmask.connect import threads
from unmask.errors import TargetError, UnreadError

T = TypeVar("T")

MOST_CALLS = 5
"""Calls in flight at once: a daemon works on so many of one client (`max_client_requests`)."""
CALL_SECONDS = 10.0
"""That a question takes at most which does not go into the guest."""
LOCK_SECONDS = 1.0
"""Beyond what the agent is given: for the way there and back."""
PEEK = 1024 * 1024
"""Bytes that are read at once; libvirt allows 4 MiB."""
MOST_INTERFACES = 64
MOST_ADDRESSES = 64
"""Of one guest, as one of the three sources tells them."""


class AddressSource(IntEnum):
    """Who tells a guest's addresses (virDomainInterfaceAddressesSource)."""

    LEASE = 0
    """The DHCP server of a network of libvirt's."""
    AGENT = 1
    ARP = 2
    """The host's table of neighbours."""


@dataclass(frozen=True, slots=True)
class Interface:
    """A network interface with its addresses."""

    name: str
    """The guest's name for it, or the host's ("vnet3") where the host was asked."""
    mac: str
    """In lower case; "" where it is not told."""
    addresses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BlockInfo:
    """Sizes of a disk, in bytes."""

    capacity: int
    """What the guest sees."""
    allocation: int
    physical: int


class DomainAccess:
    """One domain, for whoever looks into it. Methods raise `UnreadError`; many threads may call."""

    def __init__(self, host: LibvirtHost, uuid: str) -> None:
        self.local = host.local
        """Whether the host is the machine that this runs on, so that its paths are paths here."""
        self.read_only = host.read_only
        self._host = host
        self._uuid = uuid

    @property
    def host(self) -> LibvirtHost:
        """Return the connection to the domain's host."""
        return self._host

    def xml(self, seconds: float = CALL_SECONDS) -> str:
        """Return the XML that describes the domain as it is now."""
        return str(self._call(lambda domain: domain.XMLDesc(0), seconds))

    def peek(self, disk: str, offset: int, size: int, seconds: float = CALL_SECONDS) -> bytes:
        """Return `size` bytes from `offset` of a disk's raw contents, read by libvirt's daemon.

        Args:
            disk: The target ("vda") or the exact source path.
            offset: Bytes from the beginning of the disk.
            size: Bytes, 1 to 1 MiB; all of them must be within the disk.
            seconds: That it may take.

        Raises:
            UnreadError: The disk is no raw one, ends earlier, or is none of the domain's; the
                connection is read-only.
            ValueError: `offset` or `size` is out of bounds.
        """
        if offset < 0 or not 0 < size <= PEEK:
            raise ValueError(f"{size} bytes at {offset} are not to be peeked at")
        # The annotations of libvirt's binding say str; it is bytes.
        return bytes(self._call(lambda domain: domain.blockPeek(disk, offset, size, 0), seconds))

    def block_info(self, disk: str, seconds: float = CALL_SECONDS) -> BlockInfo:
        """Return the sizes of a disk, by its target or source path."""
        return BlockInfo(*self._call(lambda domain: domain.blockInfo(disk, 0), seconds)[:3])

    def interfaces(
        self, source: AddressSource, seconds: float = CALL_SECONDS
    ) -> tuple[Interface, ...]:
        """Return the interfaces with the addresses that one of the three sources knows."""
        found = self._call(lambda domain: domain.interfaceAddresses(int(source), 0), seconds)
        return tuple(
            Interface(
                name,
                (told.get("hwaddr") or "").lower(),
                tuple(item["addr"] for item in (told.get("addrs") or ())[:MOST_ADDRESSES]),
            )
            for name, told in list((found or {}).items())[:MOST_INTERFACES]
        )

    def agent(
        self, command: str, arguments: Mapping[str, object] | None = None, seconds: float = 5.0
    ) -> Any:
        """Send one command to the guest agent and return what it returns, whatever that is.

        libvirt sends an agent one command at a time: where another one hangs, this waits for it.
        """
        request = {"execute": command, **({"arguments": dict(arguments)} if arguments else {})}
        text, wait = json.dumps(request), max(1, math.ceil(seconds))
        qemu = library.load_qemu()
        answer = self._call(
            lambda domain: qemu.qemuAgentCommand(domain, text, wait, 0), wait + LOCK_SECONDS
        )
        return _returned(answer)

    def network(self, name: str, seconds: float = CALL_SECONDS) -> str:
        """Return the XML of one of the host's virtual networks."""
        return str(self._host.call(lambda host: host.networkLookupByName(name).XMLDesc(0), seconds))

    def _call(self, ask: Callable[[Any], T], seconds: float) -> T:
        return self._host.call(lambda host: ask(host.lookupByUUIDString(self._uuid)), seconds)


class LibvirtHost:
    """A connection for looking into guests."""

    def __init__(self, client: ModuleType, handle: Any, *, read_only: bool, local: bool) -> None:
        self.read_only = read_only
        self.local = local
        self._client = client
        self._handle = handle
        self._free = threading.BoundedSemaphore(MOST_CALLS)

    def domain(self, uuid: str) -> DomainAccess:
        """Return the access to a domain, without asking whether it is there."""
        return DomainAccess(self, uuid)

    def close(self) -> None:
        """Close the connection; nobody waits for it, since it asks the daemon as any call does."""
        threads.start(self._close)

    def _close(self) -> None:
        try:
            self._handle.close()
        except self._client.libvirtError:
            return  # it was lost before

    def call(self, ask: Callable[[Any], T], seconds: float) -> T:
        """Return what `ask` gets from the connection.

        Raises:
            UnreadError: libvirt refuses, or does not answer within so many seconds.
        """
        late = UnreadError(f"libvirt did not answer within {seconds:g} s")
        end = time.monotonic() + seconds
        if not self._free.acquire(timeout=max(0.0, seconds)):
            raise late
        left = max(0.0, end - time.monotonic())
        return threads.within(left, lambda: self._asked(ask), late)

    def _asked(self, ask: Callable[[Any], T]) -> T:
        """Run in a thread that may have been left behind: its place is taken until it is done."""
        try:
            return ask(self._handle)
        except self._client.libvirtError as error:
            raise errors.unread(error.get_error_code(), str(error)) from error
        finally:
            self._free.release()


def open_host(uri: str, seconds: float, *, local: bool) -> LibvirtHost:
    """Open a connection for looking into guests; whoever does closes it.

    Args:
        uri: The operator's own.
        seconds: Within which libvirt has to answer.
        local: Whether it leads to the machine that this runs on.

    Raises:
        MissingPackageError: libvirt-python is not installed.
        TargetError: libvirt cannot be reached, or does not answer in time.
    """
    client = library.load()
    late = TargetError(f"{uri}: libvirt did not answer within {seconds:g} s")
    handle, read_only = threads.within(seconds, lambda: library.opened(client, uri), late)
    return LibvirtHost(client, handle, read_only=read_only, local=local)


def _returned(answer: object) -> Any:
    """Return the result in an agent's answer, which comes out of the guest."""
    try:
        read = json.loads(answer) if isinstance(answer, str) else None
    except (ValueError, RecursionError):
        read = None
    if not isinstance(read, dict) or "return" not in read:
        raise UnreadError("its guest agent answers in a way that is none of an agent's")
    return read["return"]
