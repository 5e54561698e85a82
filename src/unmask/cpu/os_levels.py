"""What operating systems need of an x86 CPU to boot, by the name that a configuration declares.

Programs that do not start without a flag are in the same table.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from unmask.cpu import data_file
from unmask.cpu.levels import LEVELS

LIBOSINFO = re.compile(r"^https?://(?P<family>[^/]+/[^/]+)/(?P<major>[a-z0-9]+)(?:\.|-unknown$|$)")


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
    """Whether the declaration stands for older systems too, which need less."""


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
