"""Worker tasks: their states and logs."""

from __future__ import annotations

from unmask.lab.accounts import Caller
from unmask.lab.answer import Answer, Json, invalid
from unmask.lab.call import Call, Route
from unmask.lab.parameters import FLAG, NUMBER, Parameter
from unmask.lab.tasks import UPID, Task

SOURCE = Parameter(words=("archive", "active", "all"))
"""Which tasks are listed; here all of them always are."""
TASK = "/nodes/{node}/tasks/{upid}"


def _task(call: Call) -> Task:
    """Return the task that the path names, to its owner or who may see all of the node's."""
    upid = call.places["upid"]
    if not UPID.fullmatch(upid):
        raise invalid(upid="unable to parse worker upid")
    task = call.cluster.tasks.known.get(upid)
    if task is None:
        raise invalid(upid="no such task")
    if not _owns(call.caller, task):
        call.need(f"/nodes/{call.node}", "Sys.Audit")
    return task


def _owns(caller: Caller, task: Task) -> bool:
    """Return whether it is the caller's own task: a user owns those of all his tokens."""
    return caller == task.caller or (not caller.token and caller.user == task.caller.user)


def status(call: Call) -> Json:
    """Return how a task is doing."""
    return _task(call).status()


def log(call: Call) -> Answer:
    """Return what a task has said."""
    lines = [{"n": number, "t": line} for number, line in enumerate(_task(call).log, 1)]
    first = call.number("start")
    most = call.number("limit", 50)
    return Answer(lines[first : first + most if most else None], {"total": len(lines)})


def tasks(call: Call) -> Answer:
    """Return the tasks of a node that the caller may see, the latest first."""
    everything = call.may(f"/nodes/{call.node}", "Sys.Audit")
    wanted = call.text("vmid")
    found = [
        task.listed()
        for task in reversed(call.cluster.tasks.known.values())
        if task.node == call.node
        and (everything or _owns(call.caller, task))
        and wanted in ("", task.ident)
    ]
    return Answer(found[: call.number("limit", 50)], {"total": len(found)})


def cluster_tasks(call: Call) -> Json:
    """Return the latest tasks of the whole cluster that the caller may see."""
    found = []
    for task in reversed(call.cluster.tasks.known.values()):
        if _owns(call.caller, task) or call.may(f"/nodes/{task.node}", "Sys.Audit"):
            row = task.listed()
            del row["pid"], row["pstart"]
            found.append(row | {"saved": "1"})
    return found


ROUTES = (
    Route(
        "GET",
        "/nodes/{node}/tasks",
        tasks,
        {"limit": NUMBER, "source": SOURCE, "start": NUMBER, "vmid": NUMBER},
    ),
    Route("GET", f"{TASK}/status", status),
    Route("GET", f"{TASK}/log", log, {"start": NUMBER, "limit": NUMBER, "download": FLAG}),
    Route("GET", "/cluster/tasks", cluster_tasks),
)
