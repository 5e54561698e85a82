"""What a node tells about itself, from the texts that its programs and kernel print."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from unmask.dialects.proxmox import processes
from unmask.dialects.proxmox.processes import Process
from unmask.dialects.proxmox.release import NEWEST
from unmask.model.inventory import Software

LIMIT = 60
"""Characters of a version, a kernel's name or a module parameter."""

PACKAGE = re.compile(r"(?P<name>pve-manager|qemu-server)\s+(?P<version>[0-9][0-9.]*)")
PVEVERSION = re.compile(r"pve-manager/(?P<version>[0-9][0-9.]*)")
QEMU_VERSION = re.compile(r"QEMU emulator version (?P<version>[0-9][0-9.]*)")
NODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,62}")
PARAMETER = re.compile(r"kvm\w*\.\w+")


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """One node as it is now."""

    name: str
    """"" where it tells none that a node could have."""
    software: Software
    version: str
    """Of qemu-server or else Proxmox VE; the newest where the node does not tell."""
    parameters: tuple[tuple[str, str], ...]
    processes: tuple[Process, ...] | None
    """None where the processes could not be listed."""
    cpuinfo: bytes
    """/proc/cpuinfo; empty where it could not be read."""


@dataclass(frozen=True, slots=True)
class Member:
    """A node as the running cluster sees it."""

    name: str
    online: bool
    address: str
    """"" where the cluster does not know it."""


def facts(parts: Mapping[str, bytes], command_lines: Iterable[bytes]) -> NodeFacts:
    """Return what the named texts tell.

    Args:
        parts: "node" (its name), "kernel" (`uname -r`), "packages" (`dpkg-query`), "pveversion",
            "qemu" (`kvm --version`), "cpuinfo", "processes" ("listed" where they could be), and
            "parameter kvm_intel.nested" and the like.
        command_lines: /proc/PID/cmdline of what may be guests.
    """
    packages = {m["name"]: m["version"] for m in PACKAGE.finditer(_text(parts, "packages"))}
    told = PVEVERSION.search(_text(parts, "pveversion"))
    manager = packages.get("pve-manager") or (told["version"] if told else "")
    emulator = QEMU_VERSION.search(_text(parts, "qemu"))
    listed = _text(parts, "processes") == "listed"
    running = [found for line in command_lines if (found := processes.parse(line)) is not None]
    return NodeFacts(
        name=name if NODE.fullmatch(name := _text(parts, "node")) else "",
        software=Software(
            hypervisor=f"Proxmox VE {manager[:LIMIT]}" if manager else "Proxmox VE",
            qemu=emulator["version"][:LIMIT] if emulator else "",
            kernel=_text(parts, "kernel"),
        ),
        version=packages.get("qemu-server") or manager or NEWEST,
        parameters=tuple(
            sorted(
                (name, _text(parts, key))
                for key in parts
                if PARAMETER.fullmatch(name := key.removeprefix("parameter ")) and name != key
            )
        ),
        processes=tuple(running) if listed else None,
        cpuinfo=parts.get("cpuinfo", b""),
    )


def _text(parts: Mapping[str, bytes], name: str) -> str:
    """Return a short text, of which the first characters are enough."""
    return parts.get(name, b"")[:4096].decode("utf-8", errors="replace").strip()[: LIMIT * 10]


def members(content: bytes) -> tuple[Member, ...]:
    """Return the nodes of /etc/pve/.members (pmxcfs), sorted; empty where it says nothing."""
    try:
        nodes = json.loads(content)["nodelist"]
        return tuple(
            Member(str(name), bool(nodes[name].get("online")), str(nodes[name].get("ip", "")))
            for name in sorted(nodes)
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return ()
