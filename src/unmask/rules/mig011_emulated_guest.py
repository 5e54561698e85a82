"""The guest is emulated: the hosts' CPUs play no part, the versions of QEMU do.

## Why it matters

Without KVM QEMU makes the guest's CPU itself (TCG). Such a guest can go to any host, of another
vendor and even of another architecture. Which flags it sees depends on what that QEMU implements: a
newer one adds some, so that a guest with `max` that comes back to an older one loses them.

## How it decides

It resolves the guest's CPU with the target's version of QEMU. A live move that loses a flag is
blocked, and one of which that is not known is unknown; for both the source's and the target's
version have to be known where they matter. A start that the target's QEMU cannot do blocks the cold
move, and a target that could not be asked (an offline node) leaves it unknown. All else is only
told.

## Remedy

Use a named model that both versions implement in full, and let KVM run the guest where it can.

## What fix does

It moves nothing. Where this would hold for the guest with its new CPU, the plan names it as a
constraint that has to be acknowledged (`--ack MIG011`).

## When to accept it

Where the guest is emulated on purpose.

## References

- QEMU, target/i386/cpu.c, TCG_*_FEATURES
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.model.cpu import Accelerator, State
from unmask.model.finding import About, Problem, Rule
from unmask.model.move import MoveCase
from unmask.model.reading import Missing
from unmask.rules import _moves
from unmask.rules._moves import COLD, LIVE


def check(move: MoveCase) -> Iterator[Problem]:
    """Yield what a move means for an emulated guest."""
    if move.case.guest.accelerator is not Accelerator.TCG or not _moves.is_vm(move):
        return
    target, qemu = move.target.name, move.target.software.qemu
    if not move.started.starts:
        why = move.started.steps[-1] if move.started.steps else "QEMU refuses it"
        yield _moves.told(f"Started on {target} it fails: {why}.", stops=(COLD,))
    elif isinstance(move.target.cpu, Missing):
        yield _moves.unasked(move.target, move.target.cpu, "guest")
    if not _moves.alive(move):
        return
    if move.alive.lost:
        yield _moves.told(
            f"QEMU {qemu} on {target} does not emulate {_moves.named(move.alive.lost, move)}.",
            stops=(LIVE,),
            flags=move.alive.lost,
        )
    elif move.doubt or _moves.open_ended(move) or _unclear(move):
        yield _moves.told(
            f"Whether QEMU on {target} emulates all that the guest sees is not known.",
            unsure=(LIVE,),
            flags=move.doubt,
            needs="the versions of QEMU on both nodes",
        )
    else:
        yield _moves.told("The guest is emulated: the CPUs of both hosts play no part.")


def _unclear(move: MoveCase) -> bool:
    """Return whether some flags depend on a version of QEMU that was not read."""
    return State.UNKNOWN in move.case.view.states.values()


RULE = Rule("MIG011", "An emulated guest", About.MOVE, check, (LIVE,))
