"""The address of a Proxmox VE API: pve://[USER@REALM@]HOST[:PORT]."""

from __future__ import annotations

import re
from dataclasses import dataclass

from unmask.errors import UsageError

SCHEME = "pve://"
SSH_SCHEME = "pve+ssh://"
"""Of targets that are read without the API."""
PORT = 8006
"""pveproxy's own."""

PLACE = re.compile(r"(?P<host>\[[0-9A-Fa-f:.%]+\]|[A-Za-z0-9._-]+)(?::(?P<port>[0-9]{1,5}))?/?")
USER = re.compile(r"[^\s:/!=@]+@[A-Za-z][A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class Address:
    """Where an API answers."""

    host: str
    """A name or address; IPv6 in brackets."""
    port: int = PORT
    user: str = ""
    """"root@pam", where the address names one."""

    @property
    def place(self) -> str:
        """Return HOST:PORT."""
        return f"{self.host}:{self.port}"

    @property
    def url(self) -> str:
        """Return what the paths of the API are appended to."""
        return f"https://{self.place}/api2/json"


def fits(target: str) -> bool:
    """Return whether a target is spelt as an address of the API."""
    return target.lower().startswith(SCHEME)


def parse(target: str) -> Address:
    """Return the address that a target names.

    Raises:
        UsageError: It is none, or it holds a secret; the text never quotes the target then.
    """
    user, _, place = target[len(SCHEME) :].rpartition("@")
    if holds_secret(target):
        raise UsageError(
            "a target must not hold a password or a token: it would stand in the shell's history,"
            " the list of processes and every report; put it in UNMASK_PVE_TOKEN, a file or a"
            " keyring (docs/proxmox.md)"
        )
    if user and not USER.fullmatch(user):
        raise UsageError(f"{user!r} is not a user of Proxmox VE, which has a realm: root@pam")
    address = entry(place)
    return Address(address.host, address.port, user)


def entry(text: str) -> Address:
    """Return the address of HOST or HOST:PORT.

    Raises:
        UsageError: It is neither.
    """
    match = PLACE.fullmatch(text)
    port = int(match["port"] or PORT) if match else 0
    if match is None or not 0 < port < 65536:
        raise UsageError(f"{text!r} is not HOST or HOST:PORT of a Proxmox VE node")
    return Address(match["host"], port)


def holds_secret(target: str) -> bool:
    """Return whether the target, of this kind, gives anything a value, or names more than a user.

    No such address has a "=": it gives a token its secret, in front of the host or behind it.
    """
    if not fits(target):
        return False
    user = target[len(SCHEME) :].rpartition("@")[0]
    return "=" in target or any(sign in user for sign in ":!")
