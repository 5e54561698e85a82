"""Look into a guest by SSH: log in, run one program that changes nothing, and leave."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from unmask.connect import ssh
from unmask.connect.ssh_address import Address
from unmask.connect.ssh_errors import HostKeyError, RefusedError, SshError
from unmask.connect.ssh_login import Secrets
from unmask.connect.ssh_session import Session
from unmask.errors import UnmaskError
from unmask.model.entry import GuestEntry
from unmask.model.inside import Inside
from unmask.sources import _guest_shell
from unmask.visits._channel import NoWayError

LOGIN_SECONDS = 20.0
"""For connecting and logging in: a filtered port must not cost a guest its other ways."""
LOGIN = "a login that it takes: --guest-user and --guest-key, or [guests] in the configuration"
HOST_KEY = "its host key: --accept-new-host-key, or host_key in [guests] of the configuration"


def look(address: str, entry: GuestEntry, secrets: Secrets, seconds: float) -> tuple[Inside, str]:
    """Return what is inside of a guest, and as whom that was read.

    Args:
        address: A host name or an IP address; an IPv6 address without brackets.
        entry: Port, user, key and the like; without a user ~/.ssh/config and the own name count.
        secrets: The guest's own password, if any; nobody is asked.
        seconds: What it may take with all that belongs to it.

    Raises:
        NoWayError: It cannot be reached, its host key is not known, it lets nobody in, or it does
            not run the program; with what would help.
    """
    end = time.monotonic() + seconds
    with enter(address, entry, secrets, seconds / 2) as (door, session):
        left = max(end - time.monotonic(), 0.1)
        inside = _guest_shell.read(session, left, sudo=entry.sudo)
        user = session.login.user
        return inside, _guest_shell.reader(user, door, inside, sudo=entry.sudo)


@contextmanager
def enter(
    address: str, entry: GuestEntry, secrets: Secrets, seconds: float
) -> Iterator[tuple[Address, Session]]:
    """Log in to a guest, within so many seconds, for as long as the context lasts.

    Args:
        address: See `look`, like `entry` and `secrets`.
        entry: See there.
        secrets: See there.
        seconds: For connecting and logging in, of which more than `LOGIN_SECONDS` are not used.

    Raises:
        NoWayError: As for `look`; also where what is done in the guest fails.
    """
    if entry.fault:
        raise NoWayError(entry.fault)
    # A guest names its own addresses: a password goes to no stranger that one of them leads to.
    trusting = entry.ssh.accept_new_host_key and (bool(entry.address) or not secrets.password)
    login = replace(entry.ssh, accept_new_host_key=trusting)
    where = ""
    try:
        door = Address(address, entry.user, entry.port or 0)
        where = str(door)
        patience = min(seconds, LOGIN_SECONDS)
        with ssh.connect(door, login, secrets, patience) as session:
            yield door, session
    except HostKeyError as error:
        # A key that has changed is no matter of an option.
        raise NoWayError(error.reason, HOST_KEY if error.needs else "") from error
    except RefusedError as error:
        raise NoWayError(error.reason, LOGIN) from error
    except SshError as error:
        raise NoWayError(error.reason, error.needs) from error
    except UnmaskError as error:
        raise NoWayError(str(error).removeprefix(f"{where}: ")) from error
