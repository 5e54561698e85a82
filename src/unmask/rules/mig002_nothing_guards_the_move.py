"""The guest's CPU is not enforced: nothing keeps it from a target that lacks what it uses.

## Why it matters

`host` (libvirt: host-passthrough), `max`, and a raw `-cpu` without `enforce` carry no demand. The
target's QEMU starts without the missing flags, and the guest's memory, in which programs have long
decided to use AVX-512 or AES, arrives on a CPU that does not have them: a crash at some later
instruction, or a guest that hangs, after a migration that was reported as a success.

## How it decides

It holds the flags that the guest sees on its own node against what the target can give. A live move
that loses one is blocked, although no hypervisor would stop it. Where the flags of either side are
not fully known, or where none is missing but the CPUs are of different silicon, it is unknown: QEMU
promises live migration with `host` between equal CPUs only. Stopped guests can go anywhere: they
start with what is there, and are told what they then no longer see.

## Remedy

Give guests that move a named model (`unmask baseline` proposes one); keep `host` for groups of
equal nodes, and confine it to them.

## What fix does

It moves nothing. Where this would hold for the guest with its new CPU, the plan names it as a
constraint that has to be acknowledged (`--ack MIG002`).

## When to accept it

Where nothing in the guest uses the missing flags, which is hard to know.

## References

- QEMU documentation, "CPU models for x86 hosts": host passthrough and live migration
- qemu-server, src/PVE/QemuServer/CPUConfig.pm: `host` without `enforce`
- libvirt, src/cpu/cpu.c, virCPUUpdateLive: nothing is checked for host-passthrough and maximum
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.model.cpu import Accelerator
from unmask.model.finding import About, Problem, Rule
from unmask.model.move import MoveCase
from unmask.model.reading import Known
from unmask.rules import _moves
from unmask.rules._moves import LIVE


def check(move: MoveCase) -> Iterator[Problem]:
    """Yield what the guest would lack after a move that nobody stops."""
    yield from _after_start(move)
    if not _moves.moves_under_kvm(move) or _moves.guarded(move):
        return
    lost = move.alive.lost - _moves.withdrawn(move, move.alive.lost)
    label, target = move.alive.label, move.target.name
    if lost:
        yield _moves.told(
            f"Nothing stops this move: {label} is not enforced, and the guest would arrive on "
            f"{target} without {_moves.named(lost, move)} and crash where it uses them.",
            stops=(LIVE,),
            flags=lost,
        )
    elif not move.alive.lost:
        yield from _unsure(move, label, target)


def _unsure(move: MoveCase, label: str, target: str) -> Iterator[Problem]:
    if _equal(move):
        return
    if move.doubt or _moves.open_ended(move):
        names = _moves.named(move.doubt, move) if move.doubt else "all that the guest sees"
        yield _moves.told(
            f"Nothing guards {label}, and whether {target} has {names} is not known.",
            unsure=(LIVE,),
            flags=move.doubt,
            needs="/proc/cpuinfo of both nodes",
        )
    elif move.case.guest.current.mode in _moves.PASSING and not _moves.same_silicon(move):
        yield _moves.told(
            f"{target} has all flags of the guest but another CPU: with {label}, QEMU promises "
            "live migration between equal CPUs only.",
            unsure=(LIVE,),
            needs="a trial with a guest that may crash",
        )


def _equal(move: MoveCase) -> bool:
    """Return whether both hosts are known and do not differ in anything that a CPU shows."""
    source = move.source
    if not isinstance(source, Known) or not isinstance(source.value.cpu, Known):
        return False
    same = (source.value.cpu, source.value.offers) == (move.target.cpu, move.target.offers)
    return same and _moves.same_silicon(move)


def _after_start(move: MoveCase) -> Iterator[Problem]:
    """Say what a guest no longer sees once it is started on the target."""
    if move.case.guest.accelerator is not Accelerator.KVM or not _moves.is_vm(move):
        return
    vanished = move.started.lost if move.started.starts else frozenset[str]()
    if move.unread is None and move.case.guest.current.mode in _moves.PASSING:
        vanished |= frozenset(flag for flag in move.alive.lost if move.started.hides(flag))
    if vanished:
        yield _moves.told(
            f"Started on {move.target.name} it no longer sees {_moves.named(vanished, move)}.",
            flags=vanished,
        )


RULE = Rule("MIG002", "Nothing keeps the guest from a target without its flags", About.MOVE, check)
