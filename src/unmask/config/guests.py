"""How one guest may be entered: the command line's words over those of the configuration file."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from unmask.config import credentials
from unmask.config.credentials import Surroundings
from unmask.config.guest_tables import GuestTable
from unmask.config.settings import Settings
from unmask.errors import UnmaskError
from unmask.model.entry import EVERY_WAY, GuestEntry
from unmask.model.inventory import Guest
from unmask.model.secret import Secret
from unmask.model.ssh import SshOptions
from unmask.model.visit import Declaration, Way

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Overrides:
    """What the command line says of guests, for all of them alike."""

    user: str = ""
    """`--guest-user`."""
    key: str = ""
    """`--guest-key`."""
    accept_new_host_key: bool = False
    ssh_config: str = ""
    """A file instead of ~/.ssh/config."""


def about(settings: Settings, guest: Guest) -> tuple[GuestTable, ...]:
    """Return the tables about a guest, those that count most first.

    A table that names it comes before patterns, and a later pattern before an earlier one.
    """
    ranked = [
        (rank, -place, table)
        for place, table in enumerate(settings.guests)
        if (rank := table.rank(guest)) is not None
    ]
    return tuple(table for _, _, table in sorted(ranked, key=lambda item: item[:2]))


def declared(settings: Settings, guest: Guest) -> tuple[Declaration, ...]:
    """Return what the configuration file declares of a guest's workloads.

    What counts most comes last, since the later of two declarations of one kind counts.
    """
    tables = reversed(about(settings, guest))
    return tuple(item for table in tables for item in table.workloads)


def entry(
    settings: Settings, guest: Guest, overrides: Overrides, password: Secret | None = None
) -> GuestEntry:
    """Return how a guest may be entered.

    Args:
        settings: The configuration file; of the tables about a guest each key is taken from the
            first that has it.
        guest: The guest.
        overrides: What the command line says, which comes before the file.
        password: What its password turned out to be.
    """
    tables = about(settings, guest)
    user = overrides.user or _first((table.user for table in tables), "")
    key = overrides.key or _first((table.key for table in tables), "")
    ways = next((table.via for table in tables if table.via is not None), None)
    named = ways is not None and Way.SSH in ways
    return GuestEntry(
        address=_first((table.address for table in tables), ""),
        port=_first((table.port for table in tables), None),
        user=user,
        ssh=SshOptions(
            key=key,
            jump=_first((table.jump for table in tables), ""),
            accept_new_host_key=overrides.accept_new_host_key,
            config=overrides.ssh_config,
            password=password,
            host_keys=_first((table.host_key for table in tables), ()),
        ),
        ways=EVERY_WAY if ways is None else ways,
        told=bool(user or key or password or named),
        sudo=next((table.sudo for table in tables if table.sudo is not None), False),
    )


@dataclass(slots=True)
class Entries:
    """Says how each guest may be entered; made once for a run, since it remembers secrets."""

    settings: Settings
    overrides: Overrides
    around: Surroundings
    _known: dict[GuestTable, Secret | None] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, guest: Guest) -> GuestEntry:
        """Return how a guest may be entered; never fails, but says why where a password is gone."""
        try:
            password = self._password(guest)
        except UnmaskError as error:
            made = entry(self.settings, guest, self.overrides)
            return replace(made, told=True, fault=str(error))
        return entry(self.settings, guest, self.overrides, password)

    def _password(self, guest: Guest) -> Secret | None:
        tables = about(self.settings, guest)
        holder = next((t for t in tables if t.password_file or t.password_env or t.keyring), None)
        if holder is None:
            return None
        with self._lock:
            if holder not in self._known:
                user = self.overrides.user or _first((t.user for t in tables), "") or "root"
                place = (holder.password_file, holder.password_env, holder.keyring)
                self._known[holder] = credentials.guest_password(*place, user, self.around)
            return self._known[holder]


def _first(values: Iterable[T], nothing: T) -> T:
    """Return the first value that says something."""
    return next((value for value in values if value), nothing)
