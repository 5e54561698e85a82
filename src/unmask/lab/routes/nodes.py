"""Nodes: which there are, what their hardware is, which packages they run."""

from __future__ import annotations

import re
import time

from unmask.lab.answer import Json, Refused
from unmask.lab.call import Call, Check, Route, at
from unmask.lab.cluster import Cluster
from unmask.lab.edition import KERNEL, QEMU, REPOSITORY
from unmask.lab.guest_file import Values
from unmask.lab.guest_row import container, disk_size, memory, processors
from unmask.lab.parameters import NUMBER, TEXT

BELOW = [
    "aplinfo",
    "apt",
    "capabilities",
    "ceph",
    "certificates",
    "config",
    "disks",
    "dns",
    "firewall",
    "hardware",
    "hosts",
    "journal",
    "lxc",
    "migrateall",
    "netstat",
    "network",
    "qemu",
    "query-oci-repo-tags",
    "query-url-metadata",
    "replication",
    "report",
    "rrd",
    "rrddata",
    "scan",
    "sdn",
    "services",
    "spiceshell",
    "startall",
    "status",
    "stopall",
    "storage",
    "subscription",
    "suspendall",
    "syslog",
    "tasks",
    "termproxy",
    "time",
    "version",
    "vncshell",
    "vzdump",
    "wakeonlan",
]
"""What GET /nodes/NODE lists."""


def used(cluster: Cluster, node: str) -> dict[str, Json]:
    """Return how busy a node is; nothing of it is known when it is offline."""
    host = cluster.hosts[node]
    found: dict[str, Json] = {"maxcpu": host.processors, "maxdisk": host.disk}
    found["maxmem"] = host.memory
    if not cluster.absent(node):
        found |= {
            "cpu": 0.0421,
            "disk": host.disk // 6,
            "mem": host.memory // 3,
            "uptime": int(time.time() - cluster.started) + 90_000,
        }
    return found


def nodes(call: Call) -> Json:
    """Return the nodes; how busy they are only to who may see it."""
    found = []
    for member in call.cluster.members:
        row: dict[str, Json] = {
            "id": f"node/{member.name}",
            "level": "",
            "node": member.name,
            "ssl_fingerprint": call.cluster.fingerprint,
            "status": "offline" if call.cluster.absent(member.name) else "online",
            "type": "node",
        }
        if call.may(f"/nodes/{member.name}", "Sys.Audit"):
            row |= used(call.cluster, member.name)
        found.append(row)
    return found


def index(_: Call) -> Json:
    """Return what there is below a node."""
    return [{"name": name} for name in BELOW]


def status(call: Call) -> Json:
    """Return a node's hardware and load."""
    cluster, edition = call.cluster, call.cluster.edition
    host = cluster.hosts[call.node]
    own = host if edition.since("9.0") else None
    kernel = (own and own.kernel) or KERNEL[edition.name]
    release = (own and own.release) or edition.version
    build = "#1 SMP PREEMPT_DYNAMIC PMX"
    used_memory = host.memory // 3
    found: dict[str, Json] = {
        "boot-info": {"mode": host.boot_mode},
        "cpu": 0.0421,
        "cpuinfo": dict(host.described(vendor=edition.since("9.0"))),
        "idle": 0,
        "ksm": {"shared": 0},
        "kversion": f"Linux {kernel} {build}",
        "loadavg": ["0.42", "0.37", "0.31"],
        "memory": {
            "free": host.memory - used_memory, "total": host.memory, "used": used_memory,
        },
        "pveversion": f"pve-manager/{release}/{REPOSITORY[edition.name]}",
        "rootfs": {
            "avail": host.disk // 2, "free": host.disk // 2, "total": host.disk,
            "used": host.disk // 6,
        },
        "swap": {"free": 0, "total": 0, "used": 0},
        "uptime": int(time.time() - cluster.started) + 90_000,
        "wait": 0,
    }  # fmt: skip
    if edition.since("9.0"):
        found["memory"]["available"] = host.memory - used_memory
    if edition.since("8.0"):
        found["current-kernel"] = {
            "machine": "x86_64", "release": kernel, "sysname": "Linux", "version": build,
        }  # fmt: skip
    else:
        del found["boot-info"]
    return found


def version(call: Call) -> Json:
    """Return the version of Proxmox VE."""
    edition = call.cluster.edition
    number = edition.version
    release = ".".join(re.split(r"[.-]", number)[:2])
    return {"release": release, "repoid": REPOSITORY[edition.name], "version": number}


def clock(_: Call) -> Json:
    """Return the time of a node."""
    now = int(time.time())
    return {"localtime": now, "time": now, "timezone": "Etc/UTC"}


def config(_: Call) -> Json:
    """Return a node's own configuration: there is none."""
    return {}


def packages(call: Call) -> Json:
    """Return the versions of the packages that matter."""
    edition = call.cluster.edition
    rows = [
        ("proxmox-ve", "metapackages", edition.version.replace("-", "."), "Proxmox VE", "x86_64"),
        ("pve-manager", "admin", edition.version, "Proxmox Virtual Environment management", ""),
        ("pve-qemu-kvm", "admin", QEMU[edition.name], "full virtualisation on x86", ""),
        ("qemu-server", "admin", f"{edition.name}.6", "QEMU server tools", ""),
    ]
    found = []
    for name, section, number, title, _ in rows:
        row: dict[str, Json] = {
            "Arch": "amd64", "CurrentState": "Installed", "Description": title,
            "OldVersion": number, "Origin": "Proxmox", "Package": name, "Priority": "optional",
            "Section": section, "Title": title, "Version": number,
        }  # fmt: skip
        if name == "proxmox-ve":
            row["RunningKernel"] = KERNEL[edition.name]
        if name == "pve-manager":
            row["ManagerVersion"] = f"{edition.version}/{REPOSITORY[edition.name]}"
        found.append(row)
    return found


def storages(call: Call) -> Json:
    """Return the storages of a node that the caller may see."""
    host = call.cluster.hosts[call.node]
    found = []
    for head, keys in call.cluster.section_file("storage.cfg").items():
        kind, _, name = head.partition(": ")
        here = keys.get("nodes", call.node).split(",")
        seen = call.may(f"/storage/{name}", "Datastore.Audit", "Datastore.AllocateSpace")
        if call.node in here and seen:
            found.append({
                "active": 1, "avail": host.disk // 2, "content": keys.get("content", "images"),
                "enabled": 1, "shared": int(keys.get("shared", "0")), "storage": name,
                "total": host.disk, "type": kind, "used": host.disk // 6,
                "used_fraction": 1 / 6,
            })  # fmt: skip
    return found


def containers(call: Call) -> Json:
    """Return the containers of a node that the caller may see."""
    found = []
    for vmid, node in call.cluster.guests("lxc").items():
        if node != call.node or not call.may(f"/vms/{vmid}", "VM.Audit"):
            continue
        values = container_values(call.cluster, node, vmid)
        row = container(call.cluster, vmid, node, values)
        row |= {"vmid": vmid, "cpus": processors(values), "maxswap": memory(values), "swap": 0}
        row["maxdisk"] = disk_size(values.get("rootfs", ""))
        for key in ("id", "node", "maxcpu", "template"):
            del row[key]
        found.append(row)
    return found


def container_values(cluster: Cluster, node: str, vmid: int) -> Values:
    """Return the options of a container."""
    text = cluster.files[f"nodes/{node}/lxc/{vmid}.conf"]
    pairs = (line.partition(": ") for line in text.splitlines() if ": " in line)
    return {key: value for key, _, value in pairs}


def container_config(call: Call) -> Json:
    """Return a container's configuration."""
    path = f"nodes/{call.node}/lxc/{call.vmid}.conf"
    if path not in call.cluster.files:
        raise Refused(f"Configuration file '{path}' does not exist")
    values = container_values(call.cluster, call.node, call.vmid)
    numbers = ("cores", "memory", "swap", "unprivileged", "onboot", "template")
    shown = {key: int(value) if key in numbers else value for key, value in values.items()}
    return shown | {"digest": call.cluster.digest(path)}


def container_status(call: Call) -> Json:
    """Return a container's state."""
    container_config(call)
    values = container_values(call.cluster, call.node, call.vmid)
    row = container(call.cluster, call.vmid, call.node, values)
    return row | {"vmid": call.vmid, "cpus": processors(values), "ha": {"managed": 0}}


AUDIT: Check = at("/nodes/{node}", "Sys.Audit")
ROUTES = (
    Route("GET", "/version", version),
    Route("GET", "/nodes", nodes),
    Route("GET", "/nodes/{node}", index),
    Route("GET", "/nodes/{node}/status", status, check=AUDIT),
    Route("GET", "/nodes/{node}/version", version),
    Route("GET", "/nodes/{node}/time", clock, check=AUDIT),
    Route("GET", "/nodes/{node}/config", config, {"property": TEXT}, at("/", "Sys.Audit")),
    Route("GET", "/nodes/{node}/apt/versions", packages, check=AUDIT),
    Route(
        "GET",
        "/nodes/{node}/storage",
        storages,
        {"storage": TEXT, "content": TEXT, "enabled": NUMBER, "target": TEXT, "format": NUMBER},
    ),
    Route("GET", "/nodes/{node}/lxc", containers),
    Route(
        "GET",
        "/nodes/{node}/lxc/{vmid}/config",
        container_config,
        {"current": NUMBER, "snapshot": TEXT},
        at("/vms/{vmid}", "VM.Audit"),
    ),
    Route(
        "GET",
        "/nodes/{node}/lxc/{vmid}/status/current",
        container_status,
        check=at("/vms/{vmid}", "VM.Audit"),
    ),
)
