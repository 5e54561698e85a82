"""Settings of the CPU bind the running guest to its host: invtsc, migratable=off, host-phys-bits.

## Why it matters

Some settings make the guest's CPU a copy of this very machine. With an invariant time stamp counter
(`invtsc`, which `migratable=off` shows too) QEMU refuses live migration, as the counter of another
machine runs at another speed. With `phys-bits=host` the guest sees how many bits of memory address
this CPU has; on a CPU with fewer of them it may have placed devices where the target has no
addresses.

## How it decides

`invtsc` without a fixed `tsc-frequency`, and `migratable=off` on a host that has an invariant
counter, block the live move. `host-phys-bits` on a target with other silicon leaves it unknown: no
list of flags tells the number of bits. A cold move is not affected.

## Remedy

Leave the setting out where the guest has to move; for `phys-bits` give a number that all nodes
have, such as 39 or 40 for small guests.

## What fix does

It moves nothing. Where this would hold for the guest with its new CPU, the plan names it as a
constraint that has to be acknowledged (`--ack MIG006`).

## When to accept it

Where the guest stays on its host, for instance because it needs the exact clock.

## References

- QEMU, target/i386/kvm/kvm.c: invtsc_mig_blocker; target/i386/host-cpu.c: host-phys-bits
- libvirt, src/qemu/qemu_migration.c: "domain has 'invtsc' CPU feature but TSC frequency is not
  specified"
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.errors import UnreadError
from unmask.model.finding import About, Problem, Rule
from unmask.model.move import MoveCase
from unmask.rules import _moves
from unmask.rules._moves import LIVE

ON = ("1", "on", "true", "y", "yes")
OFF = ("0", "n", "no", "off", "false")


def check(move: MoveCase) -> Iterator[Problem]:
    """Yield which setting binds the guest's CPU to its host."""
    if not _moves.moves_under_kvm(move) or not move.case.view.x86:
        return
    spec = move.case.guest.current
    properties = dict(spec.properties)
    if "invtsc" in spec.on and not properties.get("tsc-frequency"):
        yield _moves.told(
            "The guest sees an invariant time stamp counter (invtsc) of no fixed frequency: QEMU "
            "refuses to move it alive.",
            stops=(LIVE,),
            flags=("invtsc",),
        )
    elif properties.get("migratable", "").lower() in OFF and spec.mode in _moves.PASSING:
        yield from _not_migratable(move)
    if properties.get("host-phys-bits", "").lower() in ON and not _moves.same_silicon(move):
        yield _moves.told(
            "The guest sees as many bits of address as its host has (host-phys-bits), and "
            f"{move.target.name} has another CPU.",
            unsure=(LIVE,),
            needs="`address sizes` in /proc/cpuinfo of both nodes",
        )


def _not_migratable(move: MoveCase) -> Iterator[Problem]:
    both = _moves.cpus(move)
    if both is None:
        raise UnreadError("whether its host has an invariant counter", "/proc/cpuinfo")
    source = both[0]
    if source.complete and not source.flags & {"nonstop_tsc", "invtsc"}:
        return
    yield _moves.told(
        "migratable=off shows the guest what QEMU does not move, the invariant time stamp counter "
        "first: it refuses to move it alive.",
        stops=(LIVE,),
        flags=("invtsc",),
    )


RULE = Rule("MIG006", "A CPU setting binds the guest to its host", About.MOVE, check, (LIVE,))
