"""What speaks against a guest's move beside its disks: devices, mappings, high availability.

Sources: check_local_resources of PVE/QemuMigrate/Helpers.pm, migrate_vm_precondition of
PVE/API2/Qemu.pm, get_resource_motion_info of pve-ha-manager.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from unmask.lab.answer import Json
from unmask.lab.cluster import Cluster
from unmask.lab.guest_file import Values

DEVICE = re.compile(r"(?:usb|hostpci|serial|parallel|virtiofs)\d+")
NAMED = re.compile(r"(?:^|,)mapping=(?P<name>[\w-]+)")
SOURCES = {
    "hostpci": "mapping/pci.cfg",
    "usb": "mapping/usb.cfg",
    "virtiofs": "mapping/directory.cfg",
}
WITHIN = re.compile(r"[,;\s]+")


def mapped(values: Values) -> dict[str, str]:
    """Return the names of the mappings that a guest has, by option."""
    found = {}
    for key, value in values.items():
        match = NAMED.search(value)
        if key.startswith(("hostpci", "usb")) and match:
            found[key] = match["name"]
        elif key.startswith("virtiofs"):
            found[key] = value.split(",")[0].removeprefix("dirid=")
    return dict(sorted(found.items()))


def devices(values: Values, *, running: bool) -> list[str]:
    """Return the options that hold a guest where it is, as the preconditions list them."""
    names = mapped(values)
    found = [key for key in values if key == "ivshmem" or _is_device(key, values[key])]
    if not running:
        found = [key for key in found if not (key.startswith("hostpci") and key in names)]
        return sorted(found)
    shared = any(key.startswith("virtiofs") for key in values)
    return sorted([*found, *["amd-sev"] * ("amd-sev" in values), *["virtiofs"] * shared])


def _is_device(key: str, value: str) -> bool:
    nowhere = key.startswith("usb") and re.search(r"(?:^|=)spice\b", value, re.IGNORECASE)
    return bool(DEVICE.fullmatch(key)) and value != "socket" and not nowhere


def unmapped(cluster: Cluster, values: Values, node: str) -> list[str]:
    """Return the options whose mapping a node does not have."""
    return [
        key
        for key, name in mapped(values).items()
        if node not in _nodes(cluster, SOURCES[key.rstrip("0123456789")], name)
    ]


def _nodes(cluster: Cluster, path: str, name: str) -> set[str]:
    found = set()
    current = ""
    for line in cluster.files.get(path, "").splitlines():
        if line and not line[0].isspace():
            current = line.strip()
        elif current == name and line.split()[:1] == ["map"]:
            found.update(re.findall(r"\bnode=([\w-]+)", line))
    return found


def blockers(cluster: Cluster, vmid: int, node: str) -> list[dict[str, Json]]:
    """Return the resources of high availability that keep a guest off a node."""
    sid = f"vm:{vmid}"
    found: list[dict[str, Json]] = []
    places = cluster.guests() | cluster.guests("lxc")
    for head, keys in cluster.section_file("ha/rules.cfg").items():
        members = WITHIN.split(keys.get("resources", ""))
        if sid not in members or "disable" in keys:
            continue
        if head.startswith("node-affinity"):
            if _strict(keys) and node not in _listed(keys):
                found.append({"sid": sid, "cause": "node-affinity"})
        elif keys.get("affinity") == "negative":
            others = (other for other in members if other != sid)
            found += [
                {"sid": other, "cause": "resource-affinity"}
                for other in others
                if places.get(int(other.partition(":")[2])) == node
            ]
    return found


def _strict(keys: Mapping[str, str]) -> bool:
    return keys.get("strict") == "1"


def _listed(keys: Mapping[str, str]) -> set[str]:
    return {entry.partition(":")[0] for entry in WITHIN.split(keys.get("nodes", ""))}
