"""From what the API tells of a node to a `Host`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from unmask.cpu.features import canonical
from unmask.dialects import cpuinfo
from unmask.dialects.excerpt import excerpt
from unmask.errors import InputError
from unmask.model.cpu import HostCpu
from unmask.model.inventory import Host, Platform, Software
from unmask.model.reading import Known, Missing, Reading
from unmask.sources._pve_api_answers import Answers, Row, rows, text

VENDORS = {"Intel": "GenuineIntel", "AMD": "AuthenticAMD"}
"""Vendors by a word in the name of the model: before 9.0 a node's status does not tell them."""

OFFLINE = Missing("the node is offline", "the node")


def host(node: str, cluster: str, answers: Answers) -> Host:
    """Return a node; its CPU is `Missing` where it is offline or may not be asked."""
    reading = answers.hosts.get(node, OFFLINE)
    there = answers.answers_for(node)
    return Host(
        subject=f"{cluster}/{node}",
        name=node,
        platform=Platform.PROXMOX,
        cluster=cluster,
        cpu=cpu(reading, supported(node, answers) if there else frozenset()),
        software=_software(reading, answers.machines.get(node), answers.version),
    )


def cpu(reading: Reading[Row], offered: frozenset[str]) -> Reading[HostCpu]:
    """Return the CPU of a node's status, else as much as its hypervisor offers to guests."""
    if isinstance(reading, Known):
        try:
            return Known(_described(reading.value))
        except InputError as error:
            reading = Missing(f"its status describes no CPU: {error}")
    if offered:
        return Known(HostCpu("x86_64", offered, complete=False))
    return reading


def _described(status: Row) -> HostCpu:
    """Return the CPU of a status.

    Raises:
        InputError: It has no flags.
    """
    found = status.get("cpuinfo")
    info: Row = found if isinstance(found, dict) else {}
    kernel = status.get("current-kernel")
    arch = text(kernel.get("machine", "")) if isinstance(kernel, dict) else ""
    name = _line(info.get("model", ""))
    vendor = _line(info.get("vendor", "")) or next(
        (value for word, value in VENDORS.items() if re.search(rf"\b{word}\b", name)), ""
    )
    flags = _line(info.get("flags", ""))
    if not flags:
        raise InputError("it lists no flags")
    lines = [f"model name: {name}", f"flags: {flags}", f"cpu family: {_line(info.get('family'))}"]
    if vendor:
        lines.append(f"vendor_id: {vendor}")
    return cpuinfo.parse("\n".join(lines), arch)


def _line(value: object) -> str:
    return " ".join(text("" if value is None else value).split())


def supported(node: str, answers: Answers) -> frozenset[str]:
    """Return the flags that the node's hypervisor can give to guests, as far as it is known."""
    listed = answers.flags.value if isinstance(answers.flags, Known) else []
    return frozenset(
        canonical(text(item.get("name", "")))
        for item in listed
        if node in _listed(item.get("supported-on")) and item.get("name") != "nested-virt"
    )


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _software(reading: Reading[Row], machines: Reading[list[Row]] | None, version: str) -> Software:
    status: Row = reading.value if isinstance(reading, Known) else {}
    kernel = status.get("current-kernel")
    release = text(kernel.get("release", "")) if isinstance(kernel, dict) else ""
    words = text(status.get("kversion", "")).split()
    own = text(status.get("pveversion", "")).split("/")
    return Software(
        hypervisor=f"Proxmox VE {excerpt(own[1] if len(own) > 1 else version, 40)}",
        qemu=_newest(machines.value) if isinstance(machines, Known) else "",
        kernel=excerpt(release or (words[1] if len(words) > 1 else ""), 80),
    )


def _newest(machines: Iterable[Row]) -> str:
    """Return the version of the newest machine type, which is QEMU's own: "9.2"."""
    versions = [
        (int(match[1]), int(match[2]))
        for item in rows(list(machines)) or ()
        if (
            match := re.fullmatch(
                r"([0-9]{1,3})\.([0-9]{1,3})(\+pve[0-9]+)?", text(item.get("version", ""))
            )
        )
    ]
    return "{}.{}".format(*max(versions)) if versions else ""
