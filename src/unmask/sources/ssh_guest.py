"""One machine by SSH, without its hypervisor: a rented server, or any that one may log in to."""

from __future__ import annotations

import getpass
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from unmask.connect import ssh, ssh_address
from unmask.connect.ssh_address import PORT, SCHEME, Address
from unmask.connect.ssh_login import Secrets
from unmask.connect.ssh_session import Login, Session
from unmask.errors import TargetError
from unmask.model.entry import GuestEntry
from unmask.model.inside import Inside
from unmask.model.inventory import Inventory
from unmask.model.reading import Known
from unmask.model.source import CollectOptions, Source
from unmask.model.ssh import SshOptions
from unmask.model.visit import Visit, Way
from unmask.sources import _guest_shell, _unseen_guest

RESERVE = 0.95
"""Of the time allowed: what is left then is for putting together what was read."""


def fits(target: str) -> bool:
    """Return whether the target begins with ssh://."""
    return target.lower().startswith(SCHEME)


def collect(target: str, options: CollectOptions) -> Inventory:
    """Look into one machine and return it as the only guest, on no host.

    What the configuration says of a guest of that name counts where the target says nothing.

    Raises:
        UsageError: The target is not written ssh://[user@]HOST[:PORT].
        TargetError: It cannot be reached, lets nobody in, or runs no program of ours.
    """
    end = time.monotonic() + options.timeout * RESERVE
    try:
        with enter(target, options, options.timeout * RESERVE) as machine:
            options.progress("looking inside")
            left = max(end - time.monotonic(), 0.1)
            inside = _guest_shell.read(machine.session, left, sudo=machine.entry.sudo)
            user = machine.session.login.user
    finally:
        options.progress("")
    visit = Visit(
        inside=Known(inside),
        way=Way.SSH,
        by=_guest_shell.reader(user, machine.door, inside, sudo=machine.entry.sudo),
        addresses=(machine.door.host,),
    )
    found = _unseen_guest.guest(machine.name, inside, visit, target)
    return Inventory(targets=(target,), guests=(found,))


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine that one is logged in to."""

    name: str
    door: Address
    session: Session
    entry: GuestEntry
    """What the configuration says of a guest of that name."""


@contextmanager
def enter(target: str, options: CollectOptions, seconds: float) -> Iterator[Machine]:
    """Log in to a machine, for as long as the context lasts.

    Raises:
        UsageError: The target is not written ssh://[user@]HOST[:PORT].
        TargetError: It cannot be reached, lets nobody in, or what is done in it fails.
    """
    address = ssh_address.of_target(target, SCHEME)
    name = name_of(address)
    entry = options.visits.entry(_unseen_guest.guest(name, Inside(), Visit(), target))
    login = _login(options.ssh, entry)
    if entry.fault and login.password is None:
        raise TargetError(entry.fault)
    asks = sys.stdin and sys.stdin.isatty()
    secrets = Secrets(login.password.reveal() if login.password else "", _ask if asks else None)
    door = replace(
        address, host=entry.address or address.host, port=address.port or entry.port or 0
    )
    try:
        with ssh.connect(door, login, secrets, seconds, like=Login(entry.user)) as session:
            yield Machine(name, door, session, entry)
    except TargetError as error:
        # The target is named anyway.
        raise TargetError(str(error).removeprefix(f"{door}: ")) from error


def name_of(address: Address) -> str:
    """Return what a machine is called: its host, with the port where that is another than usual."""
    return address.host if address.port in (0, PORT) else str(replace(address, user=""))


def _login(login: SshOptions, entry: GuestEntry) -> SshOptions:
    """Return how to log in: what is said of the target, then what is said of the guest."""
    said = entry.ssh
    return replace(
        login,
        key=login.key or said.key,
        jump=login.jump or said.jump,
        config=login.config or said.config,
        password=login.password or said.password,
        host_keys=login.host_keys or said.host_keys,
    )


def _ask(prompt: str) -> str:
    """Ask without showing the answer."""
    try:
        return getpass.getpass(prompt)
    except EOFError:
        return ""


SOURCE = Source(
    name="ssh_guest",
    summary=f"{SCHEME}[user@]HOST[:PORT], one machine by SSH without its hypervisor",
    fits=fits,
    collect=collect,
    order=32,
)
