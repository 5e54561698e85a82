"""State of guests: lists, status, and everything that starts or stops one."""

from __future__ import annotations

import random
from collections.abc import Callable

from unmask.lab import guest_cpu, ha_manager
from unmask.lab.answer import Json, Refused, invalid
from unmask.lab.call import Call, Check, Route, of_guest
from unmask.lab.cluster import Cluster
from unmask.lab.guest_change import apply_pending
from unmask.lab.guest_file import Values
from unmask.lab.guest_row import ha_states, managed, status
from unmask.lab.ha_manager import Order
from unmask.lab.parameters import FLAG, TEXT, TIMEOUT
from unmask.lab.routes.guest_config import GUEST, refuse_locked
from unmask.lab.tasks import Task

GIVES_UP = "VM quit/powerdown failed - got timeout"
SHUTDOWN = 180
"""Seconds that a shutdown waits where the request does not say."""

SUBDIRECTORIES = [
    "config",
    "cloudinit",
    "pending",
    "status",
    "unlink",
    "vncproxy",
    "termproxy",
    "migrate",
    "resize",
    "move",
    "rrd",
    "rrddata",
    "monitor",
    "agent",
    "snapshot",
    "spiceproxy",
    "sendkey",
    "firewall",
    "mtunnel",
    "remote_migrate",
]


def guests(call: Call) -> Json:
    """Return the guests of a node that the caller may see."""
    found = []
    for vmid, node in call.cluster.guests().items():
        if node == call.node and call.may(f"/vms/{vmid}", "VM.Audit"):
            file = call.cluster.guest(node, vmid)
            values = _current(call.cluster, vmid, file.main)
            found.append(status(call.cluster, vmid, values, full=bool(call.number("full"))))
    random.shuffle(found)  # Perl's order, which nobody may count on
    return found


def _current(cluster: Cluster, vmid: int, values: Values) -> Values:
    process = cluster.process(vmid)
    return values if process is None else process.values | values


def current(call: Call) -> Json:
    """Return a guest's state."""
    file = call.cluster.guest(call.node, call.vmid)
    row = status(call.cluster, call.vmid, file.main, full=True)
    row["ha"] = {"managed": 0}
    if managed(call.cluster, call.vmid):
        row["ha"] = {"managed": 1, "state": ha_states(call.cluster)[call.vmid]}
    if call.cluster.edition.since("8.1") and file.main.get("arch", "x86_64") == "x86_64":
        row["clipboard"] = None
    if file.main.get("agent", "0").partition(",")[0].removeprefix("enabled=") == "1":
        row["agent"] = 1
    return row


def index(_: Call) -> Json:
    """Return what there is below a guest."""
    return [{"subdir": name} for name in SUBDIRECTORIES]


def states(_: Call) -> Json:
    """Return what there is below a guest's status."""
    names = ("current", "start", "stop", "reset", "shutdown", "suspend", "reboot")
    return [{"subdir": name} for name in names]


def start(call: Call) -> Json:
    """Start a guest in a task."""
    call.cluster.need_quorum()
    call.cluster.path_of(call.node, call.vmid)
    _root_only_skips_locks(call)

    def work(task: Task) -> None:
        file = call.cluster.guest(call.node, call.vmid)
        if file.main.get("template") == "1":
            raise Refused("you can't start a vm if it's a template")
        refuse_locked(file, skip=file.main.get("lock") in ("suspended", None))
        if call.cluster.process(call.vmid):
            raise Refused(f"VM {call.vmid} already running")
        launch(call.cluster, call.node, call.vmid, task)

    if managed(call.cluster, call.vmid):
        return ha_manager.order(call, Order("start", "started", "qmstart", work))
    return _task(call, "qmstart", work, 1.0)


def launch(cluster: Cluster, node: str, vmid: int, task: Task) -> None:
    """Start QEMU: pending options take hold first, as Proxmox has it."""
    for line in cluster.guest(node, vmid).dropped:
        task.say(f"vm {vmid} - {line}")
    settle(cluster, node, vmid)
    file = cluster.guest(node, vmid)
    reason, log = guest_cpu.obstacle(cluster, node, file.main)
    for line in log:
        task.say(line)
    if reason:
        raise Refused(reason)
    if file.main.get("lock") == "suspended":
        resumed = cluster.opened(node, vmid)
        for key in ("lock", "vmstate", "runningcpu", "runningmachine"):
            resumed.main.pop(key, None)
        cluster.store(cluster.path_of(node, vmid), resumed.text(), f"guest {vmid} resumed")
    cluster.began(vmid, file.main)


def settle(cluster: Cluster, node: str, vmid: int) -> None:
    """Let pending options take hold."""
    file = cluster.opened(node, vmid)
    if apply_pending(file):
        why = f"pending options of guest {vmid} took hold"
        cluster.store(cluster.path_of(node, vmid), file.text(), why)


def stop(call: Call) -> Json:
    """Stop a guest in a task."""
    cluster = call.cluster
    cluster.path_of(call.node, call.vmid)
    _root_only_skips_locks(call)

    def work(_: Task) -> None:
        if cluster.process(call.vmid):
            cluster.ended(call.vmid)
            settle(cluster, call.node, call.vmid)

    if managed(cluster, call.vmid):
        return ha_manager.order(call, Order("stop", "stopped", "qmstop", work))
    return _task(call, "qmstop", work, 1.0)


def shutdown(call: Call) -> Json:
    """Ask a guest to power down, in a task."""
    cluster = call.cluster
    cluster.path_of(call.node, call.vmid)
    _root_only_skips_locks(call)
    by_ha = managed(cluster, call.vmid)
    deaf = call.vmid in cluster.without_acpi and not call.number("forceStop") and not by_ha

    def work(_: Task) -> None:
        if not cluster.process(call.vmid):
            raise Refused(f"VM {call.vmid} not running")
        if deaf:
            raise Refused(GIVES_UP)
        cluster.ended(call.vmid)
        settle(cluster, call.node, call.vmid)

    if by_ha:
        return ha_manager.order(call, Order("stop", "stopped", "qmshutdown", work, 4.0))
    return _task(call, "qmshutdown", work, _patience(call) if deaf else 4.0)


def reboot(call: Call) -> Json:
    """Shut a guest down and start it again, in a task."""
    cluster = call.cluster
    cluster.path_of(call.node, call.vmid)
    if not cluster.process(call.vmid):
        raise Refused("VM is not running")
    deaf = call.vmid in cluster.without_acpi

    def work(task: Task) -> None:
        if deaf:
            raise Refused(GIVES_UP)
        cluster.ended(call.vmid)
        launch(cluster, call.node, call.vmid, task)

    return _task(call, "qmreboot", work, _patience(call) if deaf else 6.0)


def _patience(call: Call) -> float:
    return float(call.number("timeout", SHUTDOWN))


def reset(call: Call) -> Json:
    """Reset a guest: the process stays, and with it the CPU."""
    _need_running(call)
    return _task(call, "qmreset", lambda _: None, 0.5)


def suspend(call: Call) -> Json:
    """Pause a guest."""
    _need_running(call)
    return _task(call, "qmpause", lambda _: _pause(call, paused=True), 0.5)


def resume(call: Call) -> Json:
    """Let a paused guest go on."""
    _need_running(call)
    return _task(call, "qmresume", lambda _: _pause(call, paused=False), 0.5)


def _need_running(call: Call) -> None:
    call.cluster.path_of(call.node, call.vmid)
    if not call.cluster.process(call.vmid):
        raise Refused(f"VM {call.vmid} not running")


def _pause(call: Call, *, paused: bool) -> None:
    process = call.cluster.process(call.vmid)
    if process:
        process.paused = paused


def _root_only_skips_locks(call: Call) -> None:
    if call.number("skiplock") and not call.caller.root:
        raise invalid(skiplock="Only root may use this option.")


def _task(call: Call, kind: str, work: Callable[[Task], None], seconds: float) -> str:
    task = call.cluster.tasks.start(call.node, kind, str(call.vmid), call.caller, work, seconds)
    return task.upid


POWER: Check = of_guest("VM.PowerMgmt")
SKIP = {"skiplock": FLAG, "timeout": TIMEOUT}
ROUTES = (
    Route("GET", "/nodes/{node}/qemu", guests, {"full": FLAG}),
    Route("GET", GUEST, index),
    Route("GET", f"{GUEST}/status", states),
    Route("GET", f"{GUEST}/status/current", current, check=of_guest("VM.Audit")),
    Route(
        "POST",
        f"{GUEST}/status/start",
        start,
        SKIP | {"force-cpu": TEXT, "machine": TEXT},
        POWER,
    ),
    Route("POST", f"{GUEST}/status/stop", stop, SKIP | {"overrule-shutdown": FLAG}, POWER),
    Route(
        "POST",
        f"{GUEST}/status/shutdown",
        shutdown,
        SKIP | {"forceStop": FLAG, "keepActive": FLAG},
        POWER,
    ),
    Route("POST", f"{GUEST}/status/reboot", reboot, {"timeout": TIMEOUT}, POWER),
    Route("POST", f"{GUEST}/status/reset", reset, {"skiplock": FLAG}, POWER),
    Route(
        "POST",
        f"{GUEST}/status/suspend",
        suspend,
        {"skiplock": FLAG, "todisk": FLAG, "statestorage": TEXT},
        POWER,
    ),
    Route("POST", f"{GUEST}/status/resume", resume, {"skiplock": FLAG, "nocheck": FLAG}, POWER),
)
