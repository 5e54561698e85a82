"""What lists and states say of a guest: memory, processors, uptime and so on.

Sources: PVE::QemuServer::vmstatus, PVE::API2Tools::extract_vm_stats and recorded answers.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping

from unmask.lab.answer import Json
from unmask.lab.cluster import Cluster, Process
from unmask.lab.guest_file import Values

MIB = 1024**2
UNITS = {"K": 1024, "M": 1024**2, "G": 1024**3, "T": 1024**4}
DISK = re.compile(r"(scsi|virtio|sata|ide)[0-9]+")
PRESSURES = ("cpufull", "cpusome", "iofull", "iosome", "memoryfull", "memorysome")


def disk_size(value: str) -> int:
    """Return the bytes of a drive, 0 where it does not say."""
    match = re.search(r"\bsize=([0-9]+)([KMGT]?)", value)
    return int(match[1]) * UNITS.get(match[2], 1) if match else 0


def first_disk(values: Values) -> int:
    """Return the size of the disk that the guest boots from."""
    boot = re.findall(r"\b(?:scsi|virtio|sata|ide)[0-9]+", values.get("boot", ""))
    keys = boot or sorted(key for key in values if DISK.fullmatch(key))
    return next((disk_size(values[key]) for key in keys if "media=cdrom" not in values[key]), 0)


def processors(values: Values) -> int:
    """Return how many processors a guest has."""
    return int(values.get("vcpus", 0)) or int(values.get("cores", 1)) * int(
        values.get("sockets", 1)
    )


def memory(values: Values) -> int:
    """Return the bytes of memory that a guest may use."""
    return int(values.get("memory", "512").removeprefix("current=")) * MIB


def usage(values: Values, process: Process | None) -> dict[str, Json]:
    """Return what is the same in every list."""
    busy = process is not None and not process.paused
    return {
        "cpu": 0.0137 if busy else 0,
        "disk": 0,
        "maxdisk": first_disk(values),
        "maxmem": memory(values),
        "mem": memory(values) // 2 if process else 0,
        "memhost": memory(values) // 2 if process else 0,
        "name": values.get("name", ""),
        "netin": 0,
        "netout": 0,
        "status": "running" if process else "stopped",
        "uptime": int(time.time() - process.start) if process else 0,
    }


def status(cluster: Cluster, vmid: int, values: Values, *, full: bool) -> dict[str, Json]:
    """Return what a node says of a guest; with `full` also what QEMU is asked for."""
    process = cluster.process(vmid)
    row = usage(values, process) | {"vmid": vmid, "cpus": processors(values)}
    row |= {"serial": 1} if "serial0" in values else {}
    row |= {key: values[key] for key in ("lock", "tags") if key in values}
    if values.get("template") == "1":
        row["template"] = 1
    if process:
        row["pid"] = process.pid
        row |= {f"pressure{name}": 0 for name in PRESSURES} if cluster.edition.since("9.0") else {}
    if full:
        running = "paused" if process and process.paused else "running"
        row["qmpstatus"] = running if process else "stopped"
    if not cluster.edition.since("9.0"):
        del row["memhost"]
    return row


def resource(cluster: Cluster, vmid: int, node: str, values: Values) -> dict[str, Json]:
    """Return a guest's row of cluster/resources."""
    row = usage(values, cluster.process(vmid)) | {
        "diskread": 0,
        "diskwrite": 0,
        "id": f"qemu/{vmid}",
        "maxcpu": processors(values),
        "node": node,
        "template": int(values.get("template", "0")),
        "type": "qemu",
        "vmid": vmid,
    }
    row |= {key: values[key] for key in ("lock", "tags") if key in values}
    if not cluster.edition.since("9.0"):
        del row["memhost"]
    if state := ha_states(cluster).get(vmid):
        row["hastate"] = state
    return row


def container(cluster: Cluster, vmid: int, node: str, values: Values) -> dict[str, Json]:
    """Return a container's row of cluster/resources."""
    row = usage(values, cluster.process(vmid))
    del row["memhost"]
    return row | {
        "diskread": 0, "diskwrite": 0, "id": f"lxc/{vmid}", "name": values.get("hostname", ""),
        "maxcpu": processors(values), "maxdisk": disk_size(values.get("rootfs", "")),
        "node": node, "template": int(values.get("template", "0")), "type": "lxc", "vmid": vmid,
    }  # fmt: skip


def ha_states(cluster: Cluster) -> Mapping[int, str]:
    """Return the state of every guest that high availability knows."""
    found = {}
    for head, keys in cluster.section_file("ha/resources.cfg").items():
        kind, _, ident = head.partition(":")
        if kind in ("vm", "ct"):
            found[int(ident)] = keys.get("state", "started")
    return found


def managed(cluster: Cluster, vmid: int) -> bool:
    """Return whether high availability looks after a guest."""
    return ha_states(cluster).get(vmid, "ignored") != "ignored"
