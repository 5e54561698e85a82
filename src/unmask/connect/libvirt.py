"""Read a libvirt host: its domains and what it offers them. Nothing here changes a host.

`open()` and every call can hang for ever and do not see Ctrl-C, so all the work is done in a daemon
thread that is left behind at the deadline; a keep-alive ends most hangs before that. A connection
with the right to write is tried first, since only such a one may be asked for domain capabilities.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any, TypeVar

from unmask.connect import libvirt_client as library
from unmask.connect import libvirt_errors as errors
from unmask.connect import threads
from unmask.errors import TargetError
from unmask.model.inventory import Gap, GuestState, Software
from unmask.model.reading import Known, Missing, Reading
from unmask.model.source import CollectOptions

T = TypeVar("T")

STATES = {
    1: GuestState.RUNNING,
    2: GuestState.RUNNING,
    3: GuestState.PAUSED,
    4: GuestState.RUNNING,
    5: GuestState.STOPPED,
    6: GuestState.STOPPED,
    7: GuestState.PAUSED,
}
"""virDomainState: running, blocked, paused, in shutdown, shut off, crashed, suspended to RAM."""

INACTIVE = 2
MIGRATABLE = 8
"""virDomainXMLFlags. UPDATE_CPU (4) is never used: it costs 15 times as much, and one unknown CPU
model makes it fail."""

RESERVE = 0.9
"""Of the time allowed: what is left then is not begun any more."""
MOST_WORKERS = 8
"""Calls in flight at once; a daemon works on 5 of one client and queues the rest."""


@dataclass(frozen=True, slots=True)
class DomainRecord:
    """One domain as libvirt describes it: documents of XML, "" where there is none."""

    name: str
    uuid: str
    state: GuestState
    inactive: str
    """The persistent configuration; "" for a transient domain."""
    live: str = ""
    started: str = ""
    """The CPU as asked for at start; only a writable connection may see it."""
    saved: str = ""
    """What a managed save image resumes with."""
    snapshots: bool | None = None
    """Whether it has some; None where libvirt does not tell."""


@dataclass(frozen=True, slots=True, order=True)
class OfferKey:
    """What domain capabilities are asked for; "" takes libvirt's default."""

    kind: str = ""
    """The type of domain: "kvm", "qemu"."""
    arch: str = ""
    machine: str = ""
    emulator: str = ""
    """The daemon executes it: only a path that its own capabilities list may stand here."""


class Connection:
    """An open connection. Methods raise `TargetError`, or return a `Missing` or a `Gap`."""

    def __init__(self, client: ModuleType, uri: str, options: CollectOptions) -> None:
        self.uri = uri
        self._client = client
        self._options = options
        self._end = time.monotonic() + options.timeout * RESERVE
        self._handle, self.read_only = library.opened(client, uri)

    def close(self) -> None:
        """Close the connection."""
        self._try(self._handle.close)

    def hostname(self) -> str:
        """Return the host's name."""
        return str(self._must(self._handle.getHostname))

    def driver(self) -> str:
        """Return the name of the hypervisor driver: "QEMU", "TEST", "LXC"."""
        return str(self._must(self._handle.getType))

    def software(self) -> Software:
        """Return the versions of libvirt and QEMU on the host, "" where it does not tell."""
        libvirt = self._try(self._handle.getLibVersion)
        qemu = self._try(self._handle.getVersion) if self.driver() == "QEMU" else None
        return Software(
            hypervisor=f"libvirt {_version(libvirt)}" if libvirt else "libvirt",
            qemu=_version(qemu) if qemu else "",
        )

    def capabilities(self) -> Reading[str]:
        """Return the XML that describes the physical host."""
        return self._read(self._handle.getCapabilities)

    def domain_capabilities(self, key: OfferKey) -> Reading[str]:
        """Return the XML of what the hypervisor offers guests of one kind.

        The first question about an emulator takes seconds: the daemon runs it to find out.
        """
        if self.read_only:
            return Missing("a read-only connection may not ask for it", "write access to libvirt")
        if self._late():
            return Missing("the time allowed was used up")
        words = (key.emulator, key.arch, key.machine, key.kind)
        return self._read(lambda: self._handle.getDomainCapabilities(*(w or None for w in words)))

    def domains(self) -> tuple[tuple[DomainRecord, ...], tuple[Gap, ...]]:
        """Return every domain, and a gap for each that could not be read.

        Costs five calls, one for each stopped domain and up to three for each running one.
        """
        handles = self._must(lambda: self._handle.listAllDomains(0))
        states = self._states()
        persistent = self._filtered("VIR_CONNECT_LIST_DOMAINS_PERSISTENT")
        saved = self._filtered("VIR_CONNECT_LIST_DOMAINS_MANAGEDSAVE") or frozenset()
        kept = self._filtered("VIR_CONNECT_LIST_DOMAINS_HAS_SNAPSHOT")

        def read(handle: Any) -> DomainRecord | Gap:
            uuid = handle.UUIDString()
            transient = persistent is not None and uuid not in persistent
            found = self._domain(handle, states, transient=transient, saved=uuid in saved)
            if kept is None or isinstance(found, Gap):
                return found
            return replace(found, snapshots=uuid in kept)

        results = threads.spread(read, handles, min(self._options.workers, MOST_WORKERS))
        records = tuple(item for item in results if isinstance(item, DomainRecord))
        return records, tuple(item for item in results if isinstance(item, Gap))

    def _domain(
        self, handle: Any, states: dict[str, int], *, transient: bool, saved: bool
    ) -> DomainRecord | Gap:
        name, uuid, active = handle.name(), handle.UUIDString(), handle.ID() != -1
        if self._late():
            return Gap(name, f"not read within {self._options.timeout:g} s", "a longer --timeout")
        try:
            live = handle.XMLDesc(0) if active else ""
            inactive = "" if transient else handle.XMLDesc(INACTIVE)
        except self._client.libvirtError as error:
            if error.get_error_code() == errors.NO_DOMAIN:
                return Gap(name, "it vanished while the host was being read")
            return Gap(name, errors.first_line(str(error)))
        asks = active and not transient and not self.read_only
        started = self._try(lambda: handle.XMLDesc(MIGRATABLE)) if asks else None
        image = self._try(lambda: handle.managedSaveGetXMLDesc(0)) if saved else None
        guess = GuestState.RUNNING if active else GuestState.STOPPED
        state = STATES.get(states.get(uuid, 0), guess)
        return DomainRecord(name, uuid, state, inactive, live, started or "", image or "")

    def _states(self) -> dict[str, int]:
        """Return the state of every domain by UUID in one call; empty where it is not supported."""
        wanted = self._client.VIR_DOMAIN_STATS_STATE
        stats = self._try(lambda: self._handle.getAllDomainStats(wanted)) or []
        return {handle.UUIDString(): values.get("state.state", 0) for handle, values in stats}

    def _filtered(self, flag: str) -> frozenset[str] | None:
        """Return the UUIDs of the domains that a list flag selects; None where it is not known."""
        wanted = getattr(self._client, flag)
        handles = self._try(lambda: self._handle.listAllDomains(wanted))
        return None if handles is None else frozenset(item.UUIDString() for item in handles)

    def _late(self) -> bool:
        return time.monotonic() > self._end

    def _must(self, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except self._client.libvirtError as error:
            raise library.explained(self.uri, error) from error

    def _read(self, call: Callable[[], str]) -> Reading[str]:
        try:
            return Known(call())
        except self._client.libvirtError as error:
            return Missing(errors.first_line(str(error)))

    def _try(self, call: Callable[[], T]) -> T | None:
        """Return the answer, or None where the driver or the connection has none."""
        try:
            return call()
        except self._client.libvirtError:
            return None


def within(uri: str, options: CollectOptions, job: Callable[[Connection], T]) -> T:
    """Open `uri`, run `job` on the connection and return its result.

    Raises:
        MissingPackageError: libvirt-python is not installed.
        TargetError: libvirt cannot be reached, or does not answer within the time allowed.
    """
    client = library.load()
    late = TargetError(
        f"{uri}: libvirt did not answer within {options.timeout:g} s; see whether its daemon "
        "hangs, or allow more time"
    )
    return threads.within(options.timeout, lambda: _run(client, uri, options, job), late)


def _run(
    client: ModuleType, uri: str, options: CollectOptions, job: Callable[[Connection], T]
) -> T:
    connection = Connection(client, uri, options)
    try:
        return job(connection)
    finally:
        connection.close()


def _version(number: int) -> str:
    """Turn libvirt's 9000000 into "9.0.0"."""
    return f"{number // 1_000_000}.{number // 1000 % 1000}.{number % 1000}"
