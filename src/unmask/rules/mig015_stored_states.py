"""Stored states keep the CPU of their moment: snapshots with memory, hibernated guests.

## Why it matters

A snapshot with RAM and a hibernated guest hold a running machine. They come back with the CPU that
it was started with, whatever is configured now: after a move to a node that lacks a flag of it, a
rollback fails, or the guest does not wake up. Such states are forgotten until the day on which they
are needed. Likewise a change that waits for a restart goes along with a live guest and still waits.

## How it decides

A hibernated guest is judged by the CPU with which it wakes up: what the target lacks of it blocks
the cold move, and an unknown target leaves it unknown. The managed save image of a domain lies on
its own host: whether it goes along is not known. Snapshots with memory, pending changes and
CPUs that are chosen anew where the guest starts (host-model) are told.

## Remedy

Let a hibernated guest wake up and stop it before the move; make new snapshots afterwards.

## What fix does

It moves nothing. Where this would hold for the guest with its new CPU, the plan names it as a
constraint that has to be acknowledged (`--ack MIG015`).

## When to accept it

Where the stored states are not needed any more.

## References

- qemu-server, src/PVE/QemuConfig.pm: `runningcpu`, `vmstate`
- libvirt, managed save images: observed with libvirt 9.0
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from unmask.cpu.resolve import resolve
from unmask.model.cpu import Accelerator, CpuSpec, HostCpu, Mode
from unmask.model.finding import About, Problem, Rule
from unmask.model.inventory import GuestState, Platform
from unmask.model.move import MoveCase
from unmask.model.reading import Known, Reading
from unmask.rules import _moves
from unmask.rules._moves import COLD


def check(move: MoveCase) -> Iterator[Problem]:
    """Yield what stored states need of the target."""
    if not _moves.is_vm(move):
        return
    guest = move.case.guest
    if guest.state is GuestState.SUSPENDED and guest.accelerator is Accelerator.KVM:
        yield from _hibernated(move)
    yield from _snapshots(move)
    if guest.pending is not None and _moves.alive(move):
        yield _moves.told(
            f"A change of the CPU to {guest.pending.brief} is pending: alive it goes on waiting, a "
            "cold move applies it."
        )
    if guest.configured.mode is Mode.HOST_MODEL and move.started.model:
        yield _moves.told(
            f"host-model is chosen anew where the guest starts: on {move.target.name} it becomes "
            f"{move.started.model}."
        )


def _hibernated(move: MoveCase) -> Iterator[Problem]:
    label, target = move.case.view.label, move.target.name
    if move.case.guest.platform is Platform.LIBVIRT:
        yield _moves.told(
            "The guest's memory is in a managed save image of its host, and whether that goes "
            f"along to {target} is not known: without it, the guest starts anew.",
            unsure=(COLD,),
            needs="a start and a clean stop of the guest",
        )
    if move.unread is not None or move.doubt:
        yield _moves.told(
            f"The guest wakes up with {label}, and whether {target} can give that is not known.",
            unsure=(COLD,),
            flags=move.doubt,
            needs=f"/proc/cpuinfo of {target}",
        )
    elif move.alive.lost:
        yield _moves.told(
            f"The guest cannot wake up on {target}: it comes back with {label}, and "
            f"{_moves.named(move.alive.lost, move)} is not there.",
            stops=(COLD,),
            flags=move.alive.lost,
        )
    else:
        yield _moves.told(f"The guest wakes up with {label}, whatever is configured now.")


def _snapshots(move: MoveCase) -> Iterator[Problem]:
    """Tell which CPUs the snapshots with memory keep, and what of them the target lacks."""
    guest = move.case.guest
    kept: dict[tuple[str, frozenset[str]], list[str]] = {}
    for snapshot in guest.snapshots:
        if snapshot.with_memory:
            spec = snapshot.cpu
            lost = _lost(spec, guest.arch, guest.accelerator, move.target.cpu)
            kept.setdefault((spec.label, lost), []).append(snapshot.name)
    for (label, lost), names in kept.items():
        many = f" and {len(names) - 1} more" if len(names) > 1 else ""
        end = f", and {move.target.name} lacks {_moves.named(lost, move)} of it" if lost else ""
        yield _moves.told(
            f"The snapshot {names[0]}{many} with memory keeps the CPU {label}{end}.", flags=lost
        )


@lru_cache(maxsize=4096)
def _lost(
    spec: CpuSpec, arch: str, accelerator: Accelerator, cpu: Reading[HostCpu]
) -> frozenset[str]:
    if not isinstance(cpu, Known):
        return frozenset()
    return resolve(spec, arch, accelerator, cpu).lost


RULE = Rule("MIG015", "Stored states keep their CPU", About.MOVE, check, (COLD,))
