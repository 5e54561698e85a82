"""The guest cannot be changed as it is: locked, a template, hibernated, a container.

## Why it matters

A lock means that a job works on the guest: Proxmox VE refuses every change until it is over. A
hibernated guest wakes up with the CPU it fell asleep with, and a template is what clones are made
from, with disks that may be in use. A container has no CPU of its own, and shares its host's.

## How it decides

It fires for locks, templates, guests whose memory lies on disk, and whatever is not a virtual
machine of Proxmox VE or libvirt. None of these can be taken on.

## Remedy

Wait for the job that holds the lock. Wake a hibernated guest and shut it down. Change the clones of
a template, or make a new template.

## What fix does

It refuses.

## When to accept it

It cannot be accepted.

## References

- qemu-server, src/PVE/QemuConfig.pm, check_lock; src/PVE/QemuServer.pm (`runningcpu`)
- libvirt, virDomainManagedSave
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.model.change_case import ChangeCase
from unmask.model.finding import About, Problem, Rule
from unmask.model.inventory import Guest, GuestKind, GuestState, Platform
from unmask.rules import _changes


def check(change: ChangeCase) -> Iterator[Problem]:
    """Yield why the guest cannot be changed now."""
    for message, remedy in _reasons(change.now.guest):
        yield _changes.told(message, remedy, fatal=True)


def _reasons(guest: Guest) -> Iterator[tuple[str, str]]:
    if guest.platform is Platform.UNSEEN:
        yield "The hypervisor of this machine is out of reach.", "Ask whoever runs it."
        return
    if guest.kind is not GuestKind.VM:
        yield "A container shares its host's CPU: there is no model to change.", ""
        return
    if guest.template:
        yield "This is a template.", "Change its clones, or make a new template."
    suspended = guest.state is GuestState.SUSPENDED or guest.lock == "suspended"
    if suspended:
        yield (
            "The guest is hibernated: it wakes up with the CPU it fell asleep with.",
            "Wake it and shut it down first.",
        )
    elif guest.lock:
        yield (
            f"The guest is locked ({guest.lock}): nothing can be changed until that is over.",
            "Wait for the job that holds the lock.",
        )


RULE = Rule("RST007", "The guest cannot be changed as it is", About.CHANGE, check)
