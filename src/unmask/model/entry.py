"""What an operator may say about looking into guests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from unmask.model.inventory import Guest
from unmask.model.ssh import SshOptions
from unmask.model.visit import Way

EVERY_WAY = tuple(Way)


@dataclass(frozen=True, slots=True)
class GuestEntry:
    """How one guest may be entered; "" and None where nothing special is said."""

    address: str = ""
    """Host name or IP address, instead of what the hypervisor tells."""
    port: int | None = None
    """Of its SSH server."""
    user: str = ""
    ssh: SshOptions = field(default_factory=SshOptions)
    """Key, jump host, password and so on."""
    ways: tuple[Way, ...] = EVERY_WAY
    """The ways that are allowed for this guest."""
    told: bool = False
    """Whether anybody said how to log in: without that, SSH is tried only where it is asked for
    by name, because a failed login can lock an address out."""
    sudo: bool = False
    """Whether the probes run as root by `sudo -n` where the user is another one."""
    fault: str = ""
    """Why SSH cannot be tried although it was told how: a password's file is not there."""


def anyhow(_guest: Guest) -> GuestEntry:
    """Return that nothing special is said of a guest."""
    return GuestEntry()


@dataclass(frozen=True, slots=True)
class VisitOptions:
    """Which ways are tried, and what a visit may cost."""

    ways: tuple[Way, ...] = EVERY_WAY
    """In the order in which they are tried; none: nobody is visited."""
    asked: frozenset[Way] = frozenset()
    """Ways that the operator has named (`--via`)."""
    seconds: float = 60.0
    """That one guest may take, on all ways together."""
    entry: Callable[[Guest], GuestEntry] = anyhow


NOBODY = VisitOptions(ways=())
"""Nobody looks into any guest."""
