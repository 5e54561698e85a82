"""Where an SSH server is: `[user@]host[:port]`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from unmask.errors import UsageError
from unmask.model.ssh import PASSWORD_VARIABLE

SCHEME = "ssh://"
"""Of targets that are entered without their hypervisor."""
PORT = 22

HOST = re.compile(r"[A-Za-z0-9_:][A-Za-z0-9_.:%-]*")
USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@\\+-]*\$?")
"""Narrow on purpose: both may end up in a ProxyCommand, which a shell reads."""

WRITTEN = re.compile(
    r"(?:(?P<user>.*)@)?(?:\[(?P<six>[^\[\]]*)\]|(?P<host>[^:\[\]]*))(?::(?P<port>[0-9]{1,5}))?"
)


@dataclass(frozen=True, slots=True)
class Address:
    """An SSH server, with what is left to ~/.ssh/config or the default left out."""

    host: str
    """A name, an address, or an alias of ~/.ssh/config."""
    user: str = ""
    port: int = 0
    """0 where it is not given."""

    def __post_init__(self) -> None:
        _without_password(f"{self.user}@{self.host}")
        if not HOST.fullmatch(self.host):
            raise UsageError(f"{self.host!r} is not the name or address of a host")
        if self.user and not USER.fullmatch(self.user):
            raise UsageError(f"{self.user!r} is not the name of a user")
        if not 0 <= self.port <= 65535:
            raise UsageError(f"{self.port} is not a port; ports go from 1 to 65535")

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host and self.port else self.host
        return f"{self.user}@" * bool(self.user) + host + f":{self.port}" * bool(self.port)


def parse(text: str) -> Address:
    """Return the address that is written `[user@]host[:port]`; an IPv6 address stands in brackets.

    Raises:
        UsageError: It is not written so.
    """
    _without_password(text)
    match = WRITTEN.fullmatch(text)
    if match is None:
        raise UsageError(f"{text!r} is not [user@]host[:port] (an IPv6 address needs brackets)")
    return Address(
        match["six"] or match["host"] or "", match["user"] or "", int(match["port"] or 0)
    )


def of_target(target: str, scheme: str) -> Address:
    """Return the address of a target that is written SCHEME[user@]HOST[:PORT].

    Raises:
        UsageError: It is not written so, or holds a password, which is not repeated.
    """
    rest = target[len(scheme) :].rstrip("/")
    if ":" in rest.rpartition("@")[0]:
        raise UsageError(
            f"a password in an address can be seen by others: set {PASSWORD_VARIABLE} instead"
        )
    try:
        return parse(rest)
    except UsageError as error:
        raise UsageError(f"{target} is not {scheme}[user@]HOST[:PORT]: {error}") from error


def _without_password(text: str) -> None:
    """Raise `UsageError`, which does not repeat it, where a password stands before the host."""
    if ":" in text.rpartition("@")[0]:
        raise UsageError(
            "a password in an address can be seen by others: write user@host, and put the password "
            "where no other user can read it (password_file, password_env or keyring)"
        )
