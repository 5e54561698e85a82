"""What operating systems need of a CPU to boot: by the name that is declared, or as seen inside.

Programs that do not start without a flag are in the same table.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from unmask.cpu import data_file
from unmask.cpu.levels import LEVELS
from unmask.model.inside import System

LIBOSINFO = re.compile(r"^https?://(?P<family>[^/]+/[^/]+)/(?P<major>[a-z0-9]+)(?:\.|-unknown$|$)")
ARCHES = ("x86_64", "aarch64")


@dataclass(frozen=True, slots=True)
class Need:
    """What one operating system needs."""

    system: str
    """Its name for people."""
    level: int
    """The lowest x86-64 level that has all of `flags`."""
    flags: frozenset[str]
    reason: str
    """A sentence without a full stop."""
    origin: str
    """Who says so."""
    several: bool
    """Whether the name stands for other systems too, which may need less."""


@cache
def need(declared: str) -> Need | None:
    """Return what a declared operating system needs; None where nothing is known of it.

    Args:
        declared: Proxmox's `ostype` ("win11") or a libosinfo identity
            ("http://redhat.com/rhel/9.4", of which the family and the major version count).
    """
    table = _table()
    entry = table["proxmox"].get(declared)
    if entry is None:
        match = LIBOSINFO.match(declared.strip().lower())
        entry = table["libosinfo"].get(f"{match['family']}/{match['major']}") if match else None
    return _need(entry) if entry is not None else None


@cache
def need_of(system: System) -> Need | None:
    """Return what the system that runs in a guest needs; None where nothing is known of it.

    A rebuild of Red Hat's that is not known by its name is taken for one by `ID_LIKE`, and marked
    as one that may need less (`several`).
    """
    if system.kernel_name == "Windows":
        build = int(system.version) if system.version.isascii() and system.version.isdigit() else 0
        known = [first for first in _table()["builds"] if build >= int(first)]
        return _need(_table()["builds"][max(known, key=int)]) if known else None
    major = system.version.partition(".")[0]
    family = _table()["idents"].get(system.ident)
    entry = _table()["libosinfo"].get(f"{family}/{major}")
    if entry is None and family is None and "rhel" in system.like:
        entry = _table()["libosinfo"].get(f"redhat.com/rhel/{major}")
        return replace(_need(entry), system=system.name, several=True) if entry else None
    return _need(entry) if entry is not None else None


@cache
def need_of_program(name: str, version: str, arch: str) -> Need | None:
    """Return what a program needs in order to start; None for none, and for an older version.

    A version that is not known is taken for one that needs it, and marked so (`several`).
    """
    entry = _table()["programs"].get(name)
    if entry is None:
        return None
    if version and _order(version) < _order(entry["since"]):
        return None
    chosen = entry["arm"] if arch == "aarch64" else entry
    return replace(_need(chosen), several=not version) if arch in ARCHES else None


def _order(version: str) -> tuple[int, ...]:
    """Return the first two numbers; a package's epoch ("1:5.0") is none of them."""
    numbers = re.findall(r"\d{1,9}", re.sub(r"^\d+:", "", version))
    return tuple(map(int, numbers[:2]))


@cache
def strict() -> tuple[Need, ...]:
    """Return what does not start without single flags: Windows, and programs by their name."""
    table = _table()
    return tuple(map(_need, (table["proxmox"]["win11"], *table["programs"].values())))


def _need(entry: dict[str, Any]) -> Need:
    flags = frozenset(entry["flags"]) if "flags" in entry else LEVELS[entry["level"]]
    return Need(
        system=entry["system"],
        level=entry["level"],
        flags=flags,
        reason=entry["reason"],
        origin=_table()["origins"][entry["origin"]],
        several=entry.get("several", False),
    )


@cache
def _table() -> dict[str, Any]:
    return data_file.read("os_levels")
