"""Snapshots with memory keep the CPU of their moment, and bring it back.

## Why it matters

A snapshot that holds RAM can only be resumed with the CPU that the guest had when it was taken.
Going back to it brings the old CPU back, on libvirt into the persistent configuration too, so that
a change of the model is silently undone.

## How it decides

It fires where the configuration holds snapshots with memory. Snapshots of disks alone do not count.

## Remedy

After the change, take new snapshots and remove the old ones, or go back to them only knowing that
the CPU goes back as well.

## What fix does

It leaves snapshots alone.

## When to accept it

Where nobody will go back to these snapshots, or the old CPU is wanted with them.

## References

- qemu-server, src/PVE/QemuConfig.pm, __snapshot_rollback_vm_start (`runningcpu`)
- libvirt, virDomainRevertToSnapshot
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.model.change_case import ChangeCase
from unmask.model.finding import About, Problem, Rule
from unmask.rules import _changes, _words

NAMED = 3


def check(change: ChangeCase) -> Iterator[Problem]:
    """Yield a problem where snapshots with memory are kept."""
    kept = [item.name for item in change.now.guest.snapshots if item.with_memory]
    if not kept or not _changes.is_vm(change):
        return
    names = _words.few(kept, NAMED)
    many = len(kept) > 1
    yield _changes.told(
        f"{'Snapshots' if many else 'The snapshot'} {names} with memory: going back to "
        f"{'one of them' if many else 'it'} brings the old CPU back.",
        "Take a new snapshot after the change, and remove the old ones.",
    )


RULE = Rule("RST002", "Snapshots with memory bring the old CPU back", About.CHANGE, check)
