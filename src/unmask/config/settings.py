"""The configuration file: named targets, and how to get into guests.

    [targets.home]
    address = "pve://pve1.example:8006"
    token_id = "auditor@pve!unmask"
    token_file = "token"
    accept = "accepted.toml"

    [guests."101"]
    user = "auditor"
    key = "guest_key"

It holds no passwords, only where they are. A target's address can start a program (libvirt's
`?command=`), so a file that was found rather than named is only read where nobody but its owner,
who is the caller or root, can change it.
"""

from __future__ import annotations

import os
import stat
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unmask.config import guest_tables, tables
from unmask.config.guest_tables import GuestTable
from unmask.config.reference import Reference
from unmask.errors import UsageError

NAME = "unmask.toml"
LIMIT = 1024 * 1024
"""Bytes of a configuration file that are looked at."""

KINDS: Mapping[str, type] = {
    "token_id": str,
    "token_file": str,
    "token_env": str,
    "user": str,
    "password_file": str,
    "password_env": str,
    "keyring": str,
    "ca_file": str,
    "fingerprint": tuple,
    "nodes": tuple,
    "key": str,
    "jump": str,
    "insecure": bool,
}
"""The keys of a target that say how to get in, as `Reference` has them."""

FILES = frozenset({"accept", "token_file", "password_file", "ca_file", "key"})
"""Keys whose value is a path, relative to the configuration file."""


@dataclass(frozen=True, slots=True)
class Target:
    """A target of the configuration."""

    name: str
    address: str
    accept: str = ""
    """A file of accepted findings, relative to the configuration file; "" for none."""
    reference: Reference = field(default_factory=Reference)
    """Where its credentials are, and what else it takes to get in."""
    beside: tuple[str, ...] = ()
    """Names of configured targets that have this address, where none of them was asked for."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the configuration file says; all empty where there is none."""

    path: str = ""
    targets: tuple[Target, ...] = ()
    guests: tuple[GuestTable, ...] = ()
    """What it says of guests, in the order of the file."""

    def named(self, word: str) -> Target | None:
        """Return the target of this name, else the only one of this address.

        Reports print addresses: what they say to run shall find the login that is configured.
        """
        of_address = self.at(word)
        alone = of_address[0] if len(of_address) == 1 else None
        return next((target for target in self.targets if target.name == word), alone)

    def at(self, address: str) -> tuple[Target, ...]:
        """Return the targets of this address."""
        return tuple(target for target in self.targets if target.address == address)


def load(path: Path) -> Settings:
    """Read the configuration file at `path`.

    Raises:
        UsageError: It cannot be read or is not TOML, or a key or value in it is wrong.
    """
    try:
        with path.open("rb") as stream:
            data = stream.read(LIMIT + 1)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    if len(data) > LIMIT:
        raise UsageError(f"{path}: larger than {LIMIT} bytes, not a configuration file")
    try:
        document = tomllib.loads(data.decode())
    except RecursionError as error:
        raise UsageError(f"{path}: not a TOML file: it is nested too deeply") from error
    except ValueError as error:  # not UTF-8, no TOML, or a number of thousands of digits
        raise UsageError(f"{path}: not a TOML file: {error}") from error
    tables.only(document, {"targets", "guests"}, f"{path}")
    named = tables.table(document.get("targets", {}), f"{path}: targets")
    return Settings(
        str(path),
        tuple(_target(name, named[name], path) for name in named),
        guest_tables.parse(document.get("guests", {}), path),
    )


def find(directory: Path, environment: Mapping[str, str], user: int) -> Settings:
    """Return the settings in `directory`, else the user's own, else empty ones.

    The user's own are in $XDG_CONFIG_HOME/unmask, by default ~/.config/unmask. `user` is the
    numeric identity of the caller.

    Raises:
        UsageError: A file is there that somebody else could have written, or that is wrong.
    """
    for path in _places(directory, environment):
        if _is_file(path):
            _check_owner(path, user)
            return load(path)
    return Settings()


def _is_file(path: Path) -> bool:
    """Return whether there is a file; where this user may not look, there is none for this user.

    `su` and `runuser` leave the home of the one who called them in HOME.
    """
    try:
        return path.is_file()
    except OSError:
        return False


def _places(directory: Path, environment: Mapping[str, str]) -> list[Path]:
    places = [directory / NAME]
    home = environment.get("XDG_CONFIG_HOME", "")
    if os.path.isabs(home):  # noqa: PTH117 - an empty or relative value counts as unset
        places.append(Path(home) / "unmask" / NAME)
    elif environment.get("HOME"):
        places.append(Path(environment["HOME"]) / ".config" / "unmask" / NAME)
    return places


def _check_owner(path: Path, user: int) -> None:
    status = path.stat()
    if status.st_uid not in (user, 0):
        problem = "it belongs to another user"
    elif status.st_mode & stat.S_IWOTH:
        problem = "everybody can write to it"
    else:
        return
    raise UsageError(
        f"{path}: not used, because {problem}; correct that, or name it with --config {path}"
    )


def _target(name: str, value: Any, path: Path) -> Target:
    where = f"{path}: targets.{name}"
    table = tables.table(value, where)
    tables.no_secret(table, where)
    tables.only(table, {"address", "accept", *KINDS}, where)
    found = {
        key: tables.typed(KINDS.get(key, str), item, f"{where}.{key}")
        for key, item in table.items()
    }
    if "address" not in found:
        raise UsageError(f'{where} needs address = "...", a target as `unmask audit` takes it')
    for key in FILES.intersection(found):
        found[key] = str(path.parent / Path(str(found[key])).expanduser())
    address, accept = found.pop("address"), found.pop("accept", "")
    return Target(name, address, accept, Reference(**found))
