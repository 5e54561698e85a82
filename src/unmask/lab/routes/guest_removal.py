"""Taking a guest away."""

from __future__ import annotations

from unmask.lab.answer import Json, Refused
from unmask.lab.call import Call, Route, of_guest
from unmask.lab.parameters import FLAG
from unmask.lab.routes.guest_config import GUEST, refuse_locked
from unmask.lab.tasks import Task


def remove(call: Call) -> Json:
    """Destroy a guest in a task."""
    cluster = call.cluster
    path = cluster.path_of(call.node, call.vmid)
    file = cluster.guest(call.node, call.vmid)
    if file.main.get("protection") == "1":
        raise Refused(f"can't remove VM {call.vmid} - protection mode enabled")
    refuse_locked(file)
    if cluster.process(call.vmid):
        raise Refused(f"VM {call.vmid} is running - destroy failed")

    def work(_: Task) -> None:
        cluster.remove(path, f"guest {call.vmid} destroyed")

    return cluster.tasks.start(call.node, "qmdestroy", str(call.vmid), call.caller, work).upid


ROUTES = (
    Route(
        "DELETE",
        GUEST,
        remove,
        {"skiplock": FLAG, "purge": FLAG, "destroy-unreferenced-disks": FLAG},
        of_guest("VM.Allocate"),
    ),
)
