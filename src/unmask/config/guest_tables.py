"""What the configuration file says of guests: how to get in, and what is encrypted there.

    [guests."101"]
    address = "10.0.0.7"
    user = "auditor"
    key = "guest_key"
    workloads = ["luks", "no tls"]

A table's name is a guest's subject, VMID, UUID or name, or a pattern of one (`*`, `?`, `[a-c]`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from unmask.config import tables
from unmask.connect import ssh_address
from unmask.dialects import declared
from unmask.errors import UsageError
from unmask.model.inventory import Guest
from unmask.model.visit import Declaration, Way

KINDS: Mapping[str, type] = {
    "address": str,
    "port": int,
    "user": str,
    "key": str,
    "jump": str,
    "password_file": str,
    "password_env": str,
    "keyring": str,
    "host_key": tuple,
    "via": tuple,
    "sudo": bool,
    "workloads": tuple,
}
"""The keys of a guest's table."""

FILES = frozenset({"key", "password_file"})
"""Keys whose value is a path, relative to the configuration file."""

_HOST_KEY = re.compile(r"SHA256:[A-Za-z0-9+/]{43}|[a-z0-9@.-]+ [A-Za-z0-9+/]{16,}={0,2}(?: .*)?")
_PATTERN = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class GuestTable:
    """One table; "", None and () where it says nothing."""

    name: str
    """Whom it is about: a subject, identity or name, or a pattern."""
    address: str = ""
    port: int | None = None
    user: str = ""
    key: str = ""
    """A private key file."""
    jump: str = ""
    password_file: str = ""
    password_env: str = ""
    keyring: str = ""
    host_key: tuple[str, ...] = ()
    via: tuple[Way, ...] | None = None
    sudo: bool | None = None
    workloads: tuple[Declaration, ...] = ()

    def rank(self, guest: Guest) -> int | None:
        """Return how closely it is about a guest, 0 the closest; None where it is not."""
        names = guest.names
        if self.name in names:
            return names.index(self.name)
        if _PATTERN.search(self.name) and any(fnmatchcase(name, self.name) for name in names):
            return len(names)
        return None


def parse(value: Any, path: Path) -> tuple[GuestTable, ...]:
    """Return the tables under `guests` in the file at `path`.

    Raises:
        UsageError: A key or value in one is wrong.
    """
    found = tables.table(value, f"{path}: guests")
    return tuple(_table(name, found[name], path) for name in found)


def _table(name: str, value: Any, path: Path) -> GuestTable:
    where = f'{path}: guests."{name}"'
    table = tables.table(value, where)
    tables.no_secret(table, where)
    tables.only(table, KINDS, where)
    found = {key: tables.typed(KINDS[key], table[key], f"{where}.{key}") for key in table}
    for key in FILES.intersection(found):
        found[key] = str(path.parent / Path(found[key]).expanduser())
    _check_address(found, where)
    for item in found.get("host_key", ()):
        if not _HOST_KEY.fullmatch(item):
            shown = "this" if "PRIVATE" in item else repr(item[:80])
            raise UsageError(
                f"{where}.host_key: {shown} is no host key; it is written as in known_hosts "
                f'("ssh-ed25519 AAAA...") or as a fingerprint ("SHA256:...")'
            )
    if "via" in found:
        found["via"] = tuple(_way(word, where) for word in found["via"])
    if "workloads" in found:
        found["workloads"] = tuple(_declaration(w, where, path) for w in found["workloads"])
    return GuestTable(name, **found)


def _check_address(found: Mapping[str, Any], where: str) -> None:
    port = found.get("port")
    if port is not None and not 0 < port < 65536:
        raise UsageError(f"{where}.port: {port} is not a port; ports go from 1 to 65535")
    try:
        ssh_address.Address(found.get("address", "guest"), found.get("user", ""))
        for hop in filter(None, found.get("jump", "").split(",")):
            if hop.lower() != "none":
                ssh_address.parse(hop)
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from error


def _way(word: str, where: str) -> Way:
    try:
        return Way(word.lower())
    except ValueError:
        known = ", ".join(Way)
        raise UsageError(f"{where}.via: there is no way {word!r}; choose from {known}") from None


def _declaration(text: str, where: str, path: Path) -> Declaration:
    """Return what "luks", "no tls" or "tls(go)" declares."""
    found = declared.parse(text, path.name)
    if found.remarks or len(found.declarations) != 1:
        known = ", ".join(declared.KINDS)
        raise UsageError(
            f"{where}.workloads: {text[:80]!r} is no workload; write one of {known}, with the "
            'software or cipher in brackets ("tls(go)"), or with "no" before it'
        )
    return found.declarations[0]
