"""What high availability makes of starts and stops of the guests that it manages.

The API only writes down which state is wanted; the manager then does it as root, in a task of its
own, and pulls the plug of a guest that is not off in time (vm_start, vm_stop and vm_shutdown of
PVE/API2/Qemu.pm; PVE/HA/Resources/PVEVM.pm).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from unmask.lab.accounts import ROOT, Caller
from unmask.lab.call import Call
from unmask.lab.cluster import Cluster
from unmask.lab.tasks import Task

RESOURCES = "ha/resources.cfg"


@dataclass(frozen=True, slots=True)
class Order:
    """What the manager is to do."""

    word: str
    """"start" or "stop"."""
    state: str
    """"started" or "stopped"."""
    kind: str
    """Of the manager's own task: "qmstart"."""
    work: Callable[[Task], None]
    seconds: float = 1.0


def order(call: Call, wanted: Order) -> str:
    """Write an order down in a task, whose UPID is returned; the manager carries it out."""
    cluster, node, vmid = call.cluster, call.node, call.vmid

    def work(task: Task) -> None:
        task.say(f"Requesting HA {wanted.word} for VM {vmid}")
        cluster.need_quorum()
        why = f"{call.caller.name} wants guest {vmid} {wanted.state}"
        text = cluster.files.get(RESOURCES, "")
        cluster.store(RESOURCES, with_state(text, vmid, wanted.state), why)
        _carry_out(cluster, node, vmid, wanted)

    task = cluster.tasks.start(node, f"ha{wanted.word}", str(vmid), call.caller, work)
    return task.upid


def _carry_out(cluster: Cluster, node: str, vmid: int, wanted: Order) -> None:
    """Do what is wanted, where it is not so already."""
    if (cluster.process(vmid) is not None) != (wanted.state == "started"):
        manager = Caller(ROOT)
        cluster.tasks.start(node, wanted.kind, str(vmid), manager, wanted.work, wanted.seconds)


def with_state(text: str, vmid: int, state: str) -> str:
    """Return the file of managed guests with another state of one."""
    section = re.compile(rf"(?ms)^vm: {vmid}\n.*?(?=^\S|\Z)")
    match = section.search(text)
    if match is None:
        return text
    lines = [line for line in match[0].splitlines() if line.strip()]
    kept = [line for line in lines if not line.startswith("\tstate ")]
    kept.append(f"\tstate {state}")
    return text[: match.start()] + "\n".join(kept) + "\n\n" + text[match.end() :]
