"""Guests of a Proxmox VE cluster by way of its API: through their guest agents."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from unmask.connect import proxmox_address, proxmox_agent, proxmox_answer
from unmask.connect.deadline import Clock
from unmask.connect.proxmox_agent import ApiAgent
from unmask.connect.proxmox_answer import ApiError
from unmask.dialects.proxmox.permissions import Permissions
from unmask.dialects.proxmox.release import at_least
from unmask.errors import TargetError
from unmask.model.inventory import Guest, Inventory
from unmask.model.source import CollectOptions
from unmask.visits import _addresses, _pve_words
from unmask.visits._agent import WINDOWS
from unmask.visits._channel import Hypervisor, NoWayError

if TYPE_CHECKING:
    from unmask.connect.proxmox import Api

T = TypeVar("T")

OWN_PRIVILEGES = "9.0"
"""The first release with privileges of the guest agent's own; before, VM.Monitor is all."""
BROKEN = 596
"""Also what comes of an error that quotes the guest in letters beyond Latin-1: those of GLib."""
NO_SECTORS = NoWayError("the API shows no sectors of disks", "the nodes by SSH (pve+ssh://)")


@dataclass(frozen=True, slots=True)
class Rights:
    """What the login may ask guest agents for."""

    version: str
    permissions: Permissions | None
    """None where they could not be read: then Proxmox VE has to say it for each guest."""

    def need(self, guest: Guest, *names: str) -> None:
        """Raise `NoWayError` where none of these privileges is granted on any guest at all."""
        if not at_least(self.version, OWN_PRIVILEGES):
            names = ("VM.Monitor",)
        if self.permissions is None or any(map(self._anywhere, names)):
            return
        needs = f"{names[0]} on /vms/{guest.ident}"
        raise NoWayError("the login may not use guest agents", needs)

    def _anywhere(self, name: str) -> bool:
        grants = (self.permissions or {}).values()
        return any(isinstance(grant, Mapping) and name in grant for grant in grants)


@dataclass(slots=True)
class _Channel:
    """The way through the API; used by many threads at once."""

    api: Api
    nodes: Mapping[str, str]
    """Names of the nodes by subject."""
    rights: Rights
    shut: dict[str, NoWayError] = field(default_factory=dict)
    """Why agents do not answer, by subject of the guest: asking again takes another 3 s."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def agent(self, guest: Guest) -> _Agent:
        """Return the agent of a running guest; raises `NoWayError` where it cannot run programs."""
        self.rights.need(guest, "VM.GuestAgent.Unrestricted")
        self._open(guest)
        return _Agent(self, guest, self._asked(guest))

    def addresses(self, guest: Guest) -> tuple[str, ...]:
        """Return the addresses that the agent tells, the likeliest to be reached first."""
        self.rights.need(guest, "VM.GuestAgent.Audit", "VM.GuestAgent.Unrestricted")
        self._open(guest)
        return _addresses.of_interfaces(self.ask(guest, self._asked(guest).interfaces))

    def disks(self, guest: Guest, seconds: float) -> NoReturn:  # noqa: ARG002
        """Raise `NoWayError`: there is no way to read a disk."""
        raise NO_SECTORS

    def ask(self, guest: Guest, question: Callable[[], T]) -> T:
        """Return the answer to a question, and remember where there is nobody to answer."""
        try:
            return question()
        except ApiError as error:
            why = _shut(error, guest)
        except TargetError as error:
            why = NoWayError(str(error))
        if _pve_words.altogether(why):
            with self.lock:
                self.shut[guest.subject] = why
        raise why

    def _open(self, guest: Guest) -> None:
        _pve_words.need_agent(guest)
        with self.lock:
            why = self.shut.get(guest.subject)
        if why is not None:
            raise NoWayError(why.reason, why.needs)

    def _asked(self, guest: Guest) -> ApiAgent:
        node = self.nodes.get(guest.host) or guest.host.rpartition("/")[2]
        return ApiAgent(self.api, node, guest.ident)


@dataclass(frozen=True, slots=True)
class _Agent:
    """One guest's agent."""

    channel: _Channel
    guest: Guest
    asked: ApiAgent

    def system(self) -> str:
        """Return the id of the guest's system; an agent that does not know is asked no further."""
        try:
            return self.channel.ask(self.guest, self.asked.system)
        except NoWayError as error:
            if not _only_unknown(error):
                raise
            return WINDOWS if self.guest.os_declared.startswith("w") else ""

    def run(self, argv: Sequence[str], stdin: bytes, seconds: float, limit: int) -> bytes:
        """Run a program in the guest and return what it prints."""
        return self.channel.ask(self.guest, lambda: self.asked.run(argv, stdin, seconds, limit))


def _only_unknown(error: NoWayError) -> bool:
    """Return whether the agent answers, but has no name of the system for us."""
    return "guest-get-osinfo" in error.reason


def _shut(error: ApiError, guest: Guest) -> NoWayError:
    if error.status == BROKEN:
        return NoWayError(
            "its node broke the connection, as it does where the guest has no such program",
            "a shell (/bin/sh, or PowerShell) where the guest agent finds it",
        )
    # Asking needs one of two privileges; the one for running programs is enough for both.
    if error.needs == proxmox_answer.LONGER:
        return NoWayError(str(error), proxmox_agent.LONGER)
    unrestricted = f"VM.GuestAgent.Unrestricted on /vms/{guest.ident}"
    needs = unrestricted if "Unrestricted" in error.needs else error.needs
    return _pve_words.shut(str(error), needs)


def open_channel(
    target: str, options: CollectOptions, found: Inventory
) -> AbstractContextManager[_Channel]:
    """Open the way to the guests of a cluster, which is closed at the end of the context.

    Raises:
        UsageError: The address is none.
        TargetError: There is no login, or nothing can be asked any more.
    """
    from unmask.connect.proxmox import Api  # noqa: PLC0415 - needed for these targets only

    address = proxmox_address.parse(target)
    entries = (address, *(proxmox_address.entry(item) for item in options.access.entries))
    login = options.access.login
    if login is None:
        raise TargetError("there is no token or password for it (docs/proxmox.md)")
    # Each guest has an end of its own; this one is for all of them, one after the other.
    clock = Clock(options.visits.seconds * (len(found.guests) + 1))
    api = Api(entries, login, options.access.trust, clock, options.workers)
    nodes = {host.subject: host.name for host in found.hosts}
    try:
        return _kept(_Channel(api, nodes, rights(api)))
    except BaseException:
        api.close()
        raise


@contextmanager
def _kept(channel: _Channel) -> Iterator[_Channel]:
    try:
        yield channel
    finally:
        channel.api.close()


def rights(api: Api) -> Rights:
    """Return what the login may do.

    Raises:
        TargetError: Nothing can be asked.
    """
    try:
        version: Any = api.get("version")
    except ApiError as error:
        raise TargetError(str(error)) from None
    told = str(version.get("version", "")) if isinstance(version, dict) else ""
    try:
        permissions: Any = api.get("access/permissions")
    except ApiError:
        permissions = None
    return Rights(told, permissions if isinstance(permissions, dict) else None)


HYPERVISOR = Hypervisor(name="proxmox", fits=proxmox_address.fits, open=open_channel)
