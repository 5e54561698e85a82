"""What the guest is now decides how it can move: stopped, locked, a template, a container.

## Why it matters

Only a running virtual machine moves alive. A guest that is locked (backup, snapshot, an earlier
migration that broke off) does not move at all until the lock is gone. A container is stopped, moved
and started again: whatever runs in it is interrupted, and then sees the other node's CPU.

## How it decides

Live moves are blocked for what does not run, for templates and for containers. A container also
needs a node of its architecture: the cold move is unknown where the node could not be asked. Any
lock blocks both. A copy of configuration files does not tell whether a guest runs: the live move is
unknown then. With `--cpu` it also looks whether the guest starts on its own node with the new CPU
at all, as a live move begins there.

## Remedy

Wait for the job that holds the lock; `qm unlock` only where no such job is left.

## What fix does

It moves nothing. Where this would hold for the guest with its new CPU, the plan names it as a
constraint that has to be acknowledged (`--ack MIG012`).

## When to accept it

It is no fault, only the state of things.

## References

- qemu-server, src/PVE/QemuMigrate.pm; src/PVE/QemuConfig.pm, check_lock
- pve-container, src/PVE/LXC/Migrate.pm
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.model.finding import About, Problem, Rule
from unmask.model.inventory import Guest, GuestKind, GuestState
from unmask.model.move import MoveCase
from unmask.model.reading import Missing
from unmask.rules import _moves
from unmask.rules._moves import BOTH, COLD, LIVE

STATES = {
    GuestState.STOPPED: "The guest does not run: only a cold move comes into question.",
    GuestState.SUSPENDED: "The guest is hibernated: its memory lies on disk, nothing runs.",
}


def check(move: MoveCase) -> Iterator[Problem]:
    """Yield what the guest's own state allows."""
    guest = move.case.guest
    said = _not_alive(guest)
    if guest.lock:
        yield _moves.told(
            f"The guest is locked ({guest.lock}): nothing moves it until that is over.", stops=BOTH
        )
    if said:
        yield _moves.told(said, stops=(LIVE,))
    elif guest.state is GuestState.UNKNOWN:
        yield _moves.told(
            "Whether the guest runs is not known: only a cold move can be judged for sure.",
            unsure=(LIVE,),
            needs="a live source: pve://, pve+ssh:// or a libvirt URI",
        )
    if guest.kind is GuestKind.CONTAINER:
        yield from _container(move)
    if move.asked_cpu and _moves.is_vm(move) and not move.case.view.starts:
        yield _moves.told(
            f"With {move.case.view.label} the guest does not start on its own node.",
            stops=(LIVE,),
            flags=move.case.view.lost,
        )


def _container(move: MoveCase) -> Iterator[Problem]:
    """Yield what a container needs of its next node: that it is there, and of its kind."""
    target, arch = move.target, move.case.guest.arch
    if isinstance(target.cpu, Missing):
        yield _moves.unasked(target, target.cpu, "container")
    elif _moves.foreign(arch, target.cpu.value.arch):
        yield _moves.told(
            f"{target.name} is a host of {target.cpu.value.arch} and runs no programs of {arch}.",
            stops=(COLD,),
        )


def _not_alive(guest: Guest) -> str:
    if guest.template:
        return "A template never runs."
    if guest.kind is GuestKind.CONTAINER:
        return "A container does not move alive: it is stopped, moved and started again."
    return STATES.get(guest.state, "")


RULE = Rule("MIG012", "The guest's state decides how it moves", About.MOVE, check)
