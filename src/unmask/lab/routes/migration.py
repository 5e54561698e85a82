"""Migration of guests to another node, and what is asked before.

Sources: migrate_vm and migrate_vm_precondition of PVE/API2/Qemu.pm, PVE/QemuMigrate.pm and recorded
answers. Nothing here says whether the CPUs fit; only QEMU on the target does, when it starts.
"""

from __future__ import annotations

import re
import time

from unmask.lab import guest_cpu, placing
from unmask.lab.answer import Json, Refused, invalid
from unmask.lab.call import Call, Route, of_guest
from unmask.lab.cluster import Cluster
from unmask.lab.guest_file import GuestFile
from unmask.lab.guest_row import DISK, disk_size, managed
from unmask.lab.parameters import FLAG, NEEDED, NUMBER, TEXT
from unmask.lab.routes.guest_config import GUEST, refuse_locked
from unmask.lab.tasks import Task

ABORTED = "migration aborted"


def _say(task: Task, line: str) -> None:
    task.say(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {line}")


def preconditions(call: Call) -> Json:
    """Return where a guest may go and what holds it; `target` is ignored, as by Proxmox."""
    cluster = call.cluster
    cluster.need_quorum()
    file = cluster.guest(call.node, call.vmid)
    refuse_locked(file)
    running = cluster.process(call.vmid) is not None
    found: dict[str, Json] = {
        "local_disks": _local_disks(cluster, file),
        "local_resources": list(placing.devices(file.main, running=running)),
        "running": int(running),
    }
    if cluster.edition.since("8.0"):
        mapped = placing.mapped(file.main)
        told = {key: {"name": name} for key, name in mapped.items()}
        found |= {"mapped-resources": list(mapped), "mapped-resource-info": told}
    if cluster.edition.since("9.0"):
        found["has-dbus-vmstate"] = 1
    if not running or cluster.edition.since("8.0"):
        found |= _nodes(call, file)
    if managed(cluster, call.vmid) and cluster.edition.since("9.0"):
        found["dependent-ha-resources"] = []
    return found


def _nodes(call: Call, file: GuestFile) -> dict[str, Json]:
    cluster = call.cluster
    allowed: list[str] = []
    blocked: dict[str, Json] = {}
    for member in cluster.members:
        if member.name == call.node:
            continue
        missing = sorted(
            name for name in _storages(file) if not _has_storage(cluster, name, member.name)
        )
        why: dict[str, Json] = {"unavailable_storages": missing} if missing else {}
        if lacking := placing.unmapped(cluster, file.main, member.name):
            why["unavailable-resources"] = list(lacking)
        if cluster.edition.since("9.0") and managed(cluster, call.vmid):
            held = placing.blockers(cluster, call.vmid, member.name)
            why |= {"blocking-ha-resources": held} if held else {}
        blocked[member.name] = why
        if not why:
            allowed.append(member.name)
    return {"allowed_nodes": allowed, "not_allowed_nodes": blocked}


def _storages(file: GuestFile) -> set[str]:
    drives = (value for key, value in file.main.items() if DISK.fullmatch(key))
    return {drive.partition(":")[0] for drive in drives if re.match(r"[a-z][\w-]*:", drive)}


def _has_storage(cluster: Cluster, name: str, node: str) -> bool:
    for head, keys in cluster.section_file("storage.cfg").items():
        if head.partition(": ")[2] == name:
            return "nodes" not in keys or node in keys["nodes"].split(",")
    return False


def _shared(cluster: Cluster, volume: str) -> bool:
    name = volume.partition(":")[0]
    kinds = cluster.section_file("storage.cfg")
    keys = next((keys for head, keys in kinds.items() if head.endswith(f": {name}")), {})
    return keys.get("shared") == "1"


def _local_disks(cluster: Cluster, file: GuestFile) -> list[dict[str, Json]]:
    found = []
    for key, value in sorted(file.main.items()):
        volume = value.partition(",")[0]
        if not DISK.fullmatch(key) or "media=cdrom" in value or volume == "none":
            continue
        if not _shared(cluster, volume):
            attached = {"drivename": key, "is_attached": 1, "size": disk_size(value)}
            found.append(_disk(volume) | attached)
    for name, values in file.snapshots.items():
        if "vmstate" in values:
            row = _disk(values["vmstate"]) | {"is_vmstate": 1}
            found.append(row | {"referenced_in_snapshot": {name: 1}})
    return found


def _disk(volume: str) -> dict[str, Json]:
    return {
        "cdrom": 0, "is_attached": 0, "is_cloudinit": 0, "is_tpmstate": 0, "is_unused": 0,
        "is_vmstate": 0, "replicate": 1, "shared": 0, "volid": volume,
    }  # fmt: skip


def migrate(call: Call) -> Json:
    """Move a guest to another node in a task."""
    cluster, target = call.cluster, call.text("target")
    if target == call.node:
        raise invalid(target="target is local node.")
    cluster.need_quorum()
    member = cluster.member(target)
    if member is None:
        raise Refused(f"no such cluster node '{target}'")
    refuse_locked(cluster.guest(call.node, call.vmid))
    running = cluster.process(call.vmid)
    if running and not call.number("online"):
        raise Refused("can't migrate running VM without --online")

    def work(task: Task) -> None:
        address = f"'{target}' ({member.address})"
        if target in cluster.offline:
            _say(task, f"ssh: connect to host {member.address} port 22: Network is unreachable")
            _say(task, f"ERROR: {ABORTED} (duration 00:00:00): Can't connect to destination")
            raise Refused(ABORTED)
        _say(task, f"starting migration of VM {call.vmid} to node {address}")
        said = _hindrance(call, target, running=running is not None)
        if said:
            _say(task, f"ERROR: {ABORTED} (duration 00:00:00): {said}")
            raise Refused(ABORTED)
        if running:
            _start_on(call, target, task)
        _move(call, target)
        _say(task, "migration finished successfully (duration 00:00:03)")

    kind = "hamigrate" if managed(cluster, call.vmid) else "qmigrate"
    return cluster.tasks.start(call.node, kind, str(call.vmid), call.caller, work, 3.0).upid


def _hindrance(call: Call, target: str, *, running: bool) -> str:
    """Return what holds a guest where it is, "" for nothing (prepare of PVE/QemuMigrate.pm)."""
    cluster = call.cluster
    file = cluster.guest(call.node, call.vmid)
    mapped = placing.mapped(file.main)
    devices = [key for key in placing.devices(file.main, running=running) if key not in mapped]
    if devices and (running or not call.number("force")):
        return f"can't migrate VM which uses local devices: {', '.join(devices)}"
    if missing := placing.unmapped(cluster, file.main, target):
        return f"can't migrate to '{target}': missing mapped devices {', '.join(missing)}"
    if running and mapped:
        said = ", ".join(f"{key}:{name}" for key, name in mapped.items())
        return f"can't live migrate running VM which uses following mapped devices: {said}"
    for name in sorted(_storages(file)):
        if not _has_storage(cluster, name, target):
            return f"storage '{name}' is not available on node '{target}'"
    disks = [row["volid"] for row in _local_disks(cluster, file) if row["is_attached"]]
    if running and disks and not call.number("with-local-disks"):
        what = "can't live migrate attached local disks without with-local-disks option"
        return f"can't migrate local disk '{disks[0]}': {what}"
    return ""


def _start_on(call: Call, target: str, task: Task) -> None:
    """Let QEMU start on the target with the CPU that the guest has now."""
    process = call.cluster.process(call.vmid)
    if process is None:
        return
    _say(task, f"starting VM {call.vmid} on remote node '{target}'")
    reason, log = guest_cpu.obstacle(call.cluster, target, process.values)
    for line in log:
        _say(task, f"[{target}] {line}")
    if reason:
        _say(task, f"ERROR: online migrate failure - remote command failed: {reason}")
        raise Refused("migration problems")


def _move(call: Call, target: str) -> None:
    cluster = call.cluster
    old = cluster.path_of(call.node, call.vmid)
    text = cluster.files[old]
    path = f"nodes/{target}/qemu-server/{call.vmid}.conf"
    cluster.store(path, text, f"guest {call.vmid} moved to {target}")
    cluster.remove(old, f"guest {call.vmid} moved to {target}")


ROUTES = (
    Route("GET", f"{GUEST}/migrate", preconditions, {"target": TEXT}, of_guest("VM.Migrate")),
    Route(
        "POST",
        f"{GUEST}/migrate",
        migrate,
        {
            "target": NEEDED,
            "online": FLAG,
            "force": FLAG,
            "with-local-disks": FLAG,
            "targetstorage": TEXT,
            "bwlimit": NUMBER,
            "migration_type": TEXT,
            "migration_network": TEXT,
        },
        of_guest("VM.Migrate"),
    ),
)
