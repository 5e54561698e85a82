"""What a lab starts with: the files of /etc/pve, hardware, guests that run, simulated guests."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from unmask.lab.host import GIB, Host

TREE = "pve"
"""The folder of the data that is /etc/pve."""
INSIDE = "inside"
"""The folder of the data with what guests tell of themselves: VMID.json, and profiles."""


@dataclass(frozen=True, slots=True)
class Site:
    """Everything that a lab needs to know at its start."""

    files: Mapping[str, str]
    """Text by path below /etc/pve."""
    hosts: Mapping[str, Host]
    running: frozenset[int] = frozenset()
    """Guests and containers that run."""
    without_acpi: frozenset[int] = frozenset()
    """Guests that do not react to a request to power down."""
    agents: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    """Simulated guests with an agent, as `guest_agent.parse` takes them."""
    profiles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """What guests of a kind tell whoever looks into them, by the name that tables call it."""
    logins: Mapping[str, str] = field(default_factory=dict)
    """Names of tokens ("user@realm!id") by what the lab calls them."""
    secrets: Mapping[str, str] = field(default_factory=dict)
    """Of tokens, by their name; those that are not here get one at random."""
    passwords: Mapping[str, str] = field(default_factory=dict)


def packaged() -> Site:
    """Return the site that comes with the program: the cluster `homelab`."""
    data = resources.files("unmask.lab").joinpath("data")
    facts = json.loads(data.joinpath("site.json").read_text(encoding="utf-8"))
    agents = json.loads(data.joinpath("guests.json").read_text(encoding="utf-8"))
    inside = _tables(data.joinpath(INSIDE))
    return Site(
        files=dict(_texts(data.joinpath(TREE), "")),
        hosts={name: _host(data, name, row) for name, row in facts["hosts"].items()},
        running=frozenset(facts["running"]),
        without_acpi=frozenset(facts["without_acpi"]),
        agents={int(vmid): _with(table, inside.get(vmid)) for vmid, table in agents.items()},
        profiles={name: table for name, table in inside.items() if not name.isdigit()},
        logins=facts["tokens"],
        secrets={name: secrets.token_hex(16) for name in facts["tokens"].values()},
        passwords={name: secrets.token_urlsafe(12) for name in facts["users"]},
    )


def _tables(folder: Traversable) -> Mapping[str, Mapping[str, Any]]:
    """Return the JSON files of a folder by their names without the ending."""
    return {path.removesuffix(".json"): json.loads(text) for path, text in _texts(folder, "")}


def _with(table: Mapping[str, Any], inside: Mapping[str, Any] | None) -> Mapping[str, Any]:
    return table if inside is None else {**table, "inside": inside}


def _host(data: Traversable, name: str, row: Mapping[str, Any]) -> Host:
    text = data.joinpath("hosts", f"{name}.cpuinfo").read_text(encoding="utf-8")
    return Host(
        cpuinfo=text,
        processors=row["processors"],
        sockets=row["sockets"],
        kernel=row.get("kernel", ""),
        qemu=row.get("qemu", ""),
        release=row.get("release", ""),
        memory=row["memory_gib"] * GIB,
        disk=row["disk_gib"] * GIB,
    )


def _texts(folder: Traversable, below: str) -> list[tuple[str, str]]:
    found = []
    for entry in folder.iterdir():
        path = f"{below}{entry.name}"
        if entry.is_dir():
            found += _texts(entry, f"{path}/")
        else:
            found.append((path, entry.read_text(encoding="utf-8")))
    return sorted(found)
