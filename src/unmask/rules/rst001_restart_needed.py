"""The guest runs, and keeps its CPU until it is shut down and started again.

## Why it matters

QEMU decides the CPU when its process starts. A changed configuration waits for that: the guest's
own reboot, a reset and `virsh reboot` keep the process, and with it the old CPU. Whoever changes
the model and reboots the guest from inside has changed nothing.

## How it decides

It fires for every virtual machine that runs or is paused. A copy of configuration files does not
tell whether a guest runs: it fires then too, and says so.

## Remedy

Let the guest be restarted right away (`--restart`: shut down with a deadline, then started), or
shut it down and start it at a time that suits (`qm shutdown` and `qm start`, `virsh shutdown` and
`virsh start`).

## What fix does

It writes the configuration, and restarts the guest only where that is asked for.

## When to accept it

Always, once the interruption is planned: there is no other way to another CPU.

## References

- qemu-server, src/PVE/QemuServer.pm, vmconfig_hotplug_pending (`cpu` is never hot-plugged)
- libvirt, virDomainDefineXML: a definition is used at the next start
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.model.change_case import ChangeCase
from unmask.model.finding import About, Problem, Rule
from unmask.model.inventory import GuestState
from unmask.rules import _changes

REMEDY = "Add --restart, or shut it down and start it when it suits."
END = "it keeps its CPU until it is shut down and started again; its own reboot does not do it."


def check(change: ChangeCase) -> Iterator[Problem]:
    """Yield a problem where the guest runs, or may run."""
    if not _changes.is_vm(change) or change.now.guest.template:
        return
    match change.now.guest.state:
        case GuestState.RUNNING | GuestState.PAUSED as state:
            what = "runs" if state is GuestState.RUNNING else "is paused"
            yield _changes.told(f"The guest {what}: {END}", REMEDY)
        case GuestState.UNKNOWN:
            yield _changes.told(f"Whether the guest runs is not known; if it does, {END}", REMEDY)


RULE = Rule("RST001", "The guest has to be shut down and started again", About.CHANGE, check)
