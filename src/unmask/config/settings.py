"""The configuration file: named targets.

    [targets.home]
    address = "pve://pve1.example:8006"
    token_id = "auditor@pve!unmask"
    token_file = "token"
    accept = "accepted.toml"

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

SECRETS = frozenset({"token", "password"})
"""What people write at first."""


@dataclass(frozen=True, slots=True)
class Target:
    """A target of the configuration."""

    name: str
    address: str
    accept: str = ""
    """A file of accepted findings, relative to the configuration file; "" for none."""
    reference: Reference = field(default_factory=Reference)
    """Where its credentials are, and what else it takes to get in."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What the configuration file says; all empty where there is none."""

    path: str = ""
    targets: tuple[Target, ...] = ()

    def named(self, name: str) -> Target | None:
        """Return the target of this name."""
        return next((target for target in self.targets if target.name == name), None)


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
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path}: not a TOML file: {error}") from error
    _only(document, {"targets"}, f"{path}")
    tables = _table(document.get("targets", {}), f"{path}: targets")
    return Settings(str(path), tuple(_target(name, tables[name], path) for name in tables))


def find(directory: Path, environment: Mapping[str, str], user: int) -> Settings:
    """Return the settings in `directory`, else the user's own, else empty ones.

    The user's own are in $XDG_CONFIG_HOME/unmask, by default ~/.config/unmask. `user` is the
    numeric identity of the caller.

    Raises:
        UsageError: A file is there that somebody else could have written, or that is wrong.
    """
    for path in _places(directory, environment):
        if path.is_file():
            _check_owner(path, user)
            return load(path)
    return Settings()


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
    table = _table(value, where)
    for key in SECRETS.intersection(table):
        raise UsageError(
            f"{where}.{key}: no secret may stand in this file; name where it is instead, with"
            f" {key}_file, {key}_env or keyring"
        )
    _only(table, {"address", "accept", *KINDS}, where)
    found = {key: _typed(key, item, where) for key, item in table.items()}
    if "address" not in found:
        raise UsageError(f'{where} needs address = "...", a target as `unmask audit` takes it')
    for key in FILES.intersection(found):
        found[key] = str(path.parent / Path(str(found[key])).expanduser())
    address, accept = found.pop("address"), found.pop("accept", "")
    return Target(name, address, accept, Reference(**found))


def _typed(key: str, value: Any, where: str) -> Any:
    """Return a value if it is of the kind that its key wants; lists as tuples."""
    kind = KINDS.get(key, str)
    if kind is tuple:
        listed = [value] if isinstance(value, str) else value
        if isinstance(listed, list) and all(isinstance(item, str) and item for item in listed):
            return tuple(listed)
        raise UsageError(f"{where}.{key} must be a string or a list of strings, none of them empty")
    if kind is bool and not isinstance(value, bool):
        raise UsageError(f"{where}.{key} must be true or false")
    if kind is str and (not isinstance(value, str) or not value):
        raise UsageError(f"{where}.{key} must be a string that is not empty")
    return value


def _table(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise UsageError(f"{where} must be a table")
    return value


def _only(table: Mapping[str, Any], allowed: set[str], where: str) -> None:
    strange = sorted(table.keys() - allowed)
    if strange:
        known = ", ".join(sorted(allowed))
        raise UsageError(f"{where}: unknown key {strange[0]!r}; the keys here are {known}")
