"""Snapshots of guests, with and without their memory.

Sources: PVE/AbstractConfig.pm (snapshot_create, snapshot_rollback) and recorded answers.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable

from unmask.errors import InputError
from unmask.lab import guest_cpu
from unmask.lab.answer import Json, Refused
from unmask.lab.call import Call, Check, Route, of_guest
from unmask.lab.guest_file import Values
from unmask.lab.parameters import FLAG, NEEDED, TEXT, Parameter
from unmask.lab.routes.guest_config import GUEST, digest, shown, snapshot_values
from unmask.lab.tasks import Task

NOT_COPIED = (
    "lock",
    "parent",
    "snaptime",
    "vmstate",
    "runningcpu",
    "runningmachine",
    "description",
)


def snapshots(call: Call) -> Json:
    """Return the snapshots, and the pseudo entry for the present."""
    file = call.cluster.guest(call.node, call.vmid)
    found: list[dict[str, Json]] = []
    for name, values in file.snapshots.items():
        row: dict[str, Json] = {
            "description": values.get("description", ""), "name": name,
            "snaptime": int(values.get("snaptime", "0")), "vmstate": int("vmstate" in values),
        }  # fmt: skip
        found.append(row | {key: values[key] for key in ("parent",) if key in values})
    running = int(call.cluster.process(call.vmid) is not None)
    present: dict[str, Json] = {
        "description": "You are here!", "digest": digest(call), "name": "current",
        "running": running,
    }  # fmt: skip
    return [*found, present | {key: file.main[key] for key in ("parent",) if key in file.main}]


def index(_: Call) -> Json:
    """Return what there is below a snapshot."""
    return [{"cmd": "rollback"}, {"cmd": "config"}]


def config(call: Call) -> Json:
    """Return a snapshot's options, here without a digest."""
    file = call.cluster.guest(call.node, call.vmid)
    return shown(call, snapshot_values(file, call.places["snapname"]))


def feature(call: Call) -> Json:
    """Return whether the guest's disks can do something; all of the lab's can."""
    call.cluster.path_of(call.node, call.vmid)
    return {"hasFeature": 1, "nodes": [member.name for member in call.cluster.members]}


def create(call: Call) -> Json:
    """Take a snapshot in a task."""
    cluster, name = call.cluster, call.text("snapname")
    path = cluster.path_of(call.node, call.vmid)
    if name in ("current", "pending"):
        raise Refused(f"unable to use snapshot name '{name}' (reserved name)")

    def work(_: Task) -> None:
        file = cluster.opened(call.node, call.vmid)
        if name in file.snapshots:
            raise Refused(f"snapshot name '{name}' already used")
        kept = {key: value for key, value in file.main.items() if key not in NOT_COPIED}
        kept |= {key: file.main[key] for key in ("parent",) if key in file.main}
        kept["snaptime"] = str(int(time.time()))
        if call.text("description"):
            kept["description"] = call.text("description")
        if call.number("vmstate") and cluster.process(call.vmid):
            kept |= _memory(call, name, file.main)
        file.snapshots[name] = kept
        file.main["parent"] = name
        cluster.store(path, file.text(), f"snapshot {name} of guest {call.vmid}")

    return _start(call, "qmsnapshot", work)


def _memory(call: Call, name: str, values: Values) -> Values:
    try:
        cpu = guest_cpu.argument(call.cluster, values)
    except InputError as error:
        raise Refused(str(error)) from error
    machine = f"pc-i440fx-{'.'.join(call.cluster.edition.qemu.split('.')[:2])}+pve0"
    volume = f"local:{call.vmid}/vm-{call.vmid}-state-{name}.raw"
    return {"runningcpu": cpu, "runningmachine": machine, "vmstate": volume}


def rollback(call: Call) -> Json:
    """Go back to a snapshot in a task."""
    cluster, name = call.cluster, call.places["snapname"]
    path = cluster.path_of(call.node, call.vmid)

    def work(_: Task) -> None:
        file = cluster.opened(call.node, call.vmid)
        values = snapshot_values(file, name)
        file.main = {key: value for key, value in values.items() if key not in NOT_COPIED}
        file.main |= {"parent": name, "vmgenid": str(uuid.uuid4())}
        file.pending = {}
        cluster.ended(call.vmid)
        cluster.store(path, file.text(), f"guest {call.vmid} went back to {name}")
        if "vmstate" in values:
            cluster.began(call.vmid, file.main)

    return _start(call, "qmrollback", work)


def delete(call: Call) -> Json:
    """Take a snapshot away in a task."""
    cluster, name = call.cluster, call.places["snapname"]
    path = cluster.path_of(call.node, call.vmid)

    def work(_: Task) -> None:
        file = cluster.opened(call.node, call.vmid)
        gone = snapshot_values(file, name)
        del file.snapshots[name]
        for values in (file.main, *file.snapshots.values()):
            if values.get("parent") == name:
                values.pop("parent")
                values |= {key: gone[key] for key in ("parent",) if key in gone}
        cluster.store(path, file.text(), f"snapshot {name} of guest {call.vmid} is gone")

    return _start(call, "qmdelsnapshot", work)


def _start(call: Call, kind: str, work: Callable[[Task], None]) -> str:
    return call.cluster.tasks.start(call.node, kind, str(call.vmid), call.caller, work).upid


ONE = f"{GUEST}/snapshot/{{snapname}}"
ANY: Check = of_guest("VM.Snapshot", "VM.Snapshot.Rollback", "VM.Audit")
ROUTES = (
    Route("GET", f"{GUEST}/snapshot", snapshots, check=of_guest("VM.Audit")),
    Route("GET", ONE, index),
    Route(
        "GET",
        f"{GUEST}/feature",
        feature,
        {"feature": Parameter(needed=True, words=("snapshot", "clone", "copy")), "snapname": TEXT},
        of_guest("VM.Audit"),
    ),
    Route("GET", f"{ONE}/config", config, check=ANY),
    Route(
        "POST",
        f"{GUEST}/snapshot",
        create,
        {"snapname": NEEDED, "description": TEXT, "vmstate": FLAG},
        of_guest("VM.Snapshot"),
    ),
    Route(
        "POST",
        f"{ONE}/rollback",
        rollback,
        {"start": FLAG},
        of_guest("VM.Snapshot", "VM.Snapshot.Rollback"),
    ),
    Route("DELETE", ONE, delete, {"force": FLAG}, of_guest("VM.Snapshot")),
)
