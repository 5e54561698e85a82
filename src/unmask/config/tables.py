"""The tables of the configuration file: only known keys, and values of their kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from unmask.errors import UsageError

SECRETS = frozenset({"token", "password"})
"""What people write at first."""


def table(value: Any, where: str) -> dict[str, Any]:
    """Return a table.

    Raises:
        UsageError: The value is none.
    """
    if not isinstance(value, dict):
        raise UsageError(f"{where} must be a table")
    return value


def only(found: Mapping[str, Any], allowed: Iterable[str], where: str) -> None:
    """Refuse keys that mean nothing here.

    Raises:
        UsageError: There is one.
    """
    known = sorted(allowed)
    strange = sorted(found.keys() - set(known))
    if strange:
        listed = ", ".join(known)
        raise UsageError(f"{where}: unknown key {strange[0]!r}; the keys here are {listed}")


def no_secret(found: Mapping[str, Any], where: str) -> None:
    """Refuse secrets, without quoting them.

    Raises:
        UsageError: There is one.
    """
    for key in sorted(SECRETS.intersection(found)):
        raise UsageError(
            f"{where}.{key}: no secret may stand in this file; name where it is instead, with"
            f" {key}_file, {key}_env or keyring"
        )


def typed(kind: type, value: Any, where: str) -> Any:
    """Return a value if it is of the kind that its key wants; lists as tuples.

    Raises:
        UsageError: It is of another kind, or empty.
    """
    if kind is tuple:
        listed = [value] if isinstance(value, str) else value
        if isinstance(listed, list) and all(isinstance(item, str) and item for item in listed):
            return tuple(listed)
        raise UsageError(f"{where} must be a string or a list of strings, none of them empty")
    if kind is bool and not isinstance(value, bool):
        raise UsageError(f"{where} must be true or false")
    if kind is int and (not isinstance(value, int) or isinstance(value, bool)):
        raise UsageError(f"{where} must be a whole number")
    if kind is str and (not isinstance(value, str) or not value):
        raise UsageError(f"{where} must be a string that is not empty")
    return value
