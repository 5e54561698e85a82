"""The state of the guest's registers does not fit the target's kernel or CPU.

## Why it matters

With a live guest goes a block of registers (XSAVE) whose parts are AVX, AVX-512, MPX, protection
keys (PKRU), AMX and others. KVM on the target takes only parts that its CPU has. Kernels before
5.17 saved the host's PKRU too for guests that do not see protection keys; a kernel from 5.17 to 6.5
that gets such a block refuses it, QEMU goes on all the same, and the guest's processors spin at
100 % for ever. That hit guests with kvm64 and qemu64 on the way from Proxmox VE 7.4 (5.15) to 8.0
(6.2).

## How it decides

Where the flags are not enforced, it looks for parts of the register block that the guest has and
the target lacks, and blocks the live move. Then it compares the nodes' kernels: guest without
`pku`, source with it and a kernel before 5.17. The live move is blocked where the target has no
protection keys, and unknown where its kernel is 5.17 to 6.5: Proxmox VE's own kernels from
6.2.16-4 have a cure, other distributions' may. Where a kernel's version is not known, so is the
live move. A guest that was started before its node's kernel was updated still runs under the old
one until the node restarts, which the running kernel's version tells.

## Remedy

Move the guest stopped, or show it `pku` from its next start; update the kernel of the target first.

## What fix does

Nothing: kernels are updated by the operator.

## When to accept it

Where the target's kernel is known to have the cure.

## References

- Linux ad856280ddea, "x86/kvm/fpu: Limit guest user_xfeatures to supported bits of XCR0" (5.17)
- Linux 8647c52e9504, "KVM: x86: Constrain guest-supported xfeatures only at KVM_GET_XSAVE{2}" (6.6)
- pve-kernel, "kvm: xsave set: mask-out PKRU bit in xfeatures if vCPU has no support", July 2023
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.errors import UnreadError
from unmask.model.finding import About, Problem, Rule
from unmask.model.inventory import Host
from unmask.model.move import MoveCase
from unmask.model.reading import Known
from unmask.rules import _moves
from unmask.rules._moves import LIVE

PARTS = frozenset({"amx_tile", "avx", "avx512f", "mpx", "pku", "user_shstk", "xsave"})
"""Flags that stand for a part of the register block of their own."""
LEAKING, CURED = (5, 17), (6, 6)
"""The first kernels that do not save the host's PKRU, and that take a block which has it."""


def check(move: MoveCase) -> Iterator[Problem]:
    """Yield what of the guest's registers the target cannot take."""
    if not _moves.moves_under_kvm(move) or not move.case.view.x86:
        return
    parts = frozenset() if _moves.guarded(move) else move.alive.lost & PARTS
    if parts:
        yield _moves.told(
            f"{move.target.name} cannot load the guest's registers: it has no place for those of "
            f"{_moves.named(parts, move)}.",
            stops=(LIVE,),
            flags=parts,
        )
    source = move.source
    if isinstance(source, Known):
        yield from _leaked(move, source.value)


def _leaked(move: MoveCase, source: Host) -> Iterator[Problem]:
    """Yield where an old kernel's protection keys meet a newer one."""
    cpu, target = source.cpu, move.target
    if not isinstance(cpu, Known) or "pku" not in cpu.value.flags or move.case.view.shows("pku"):
        return
    old, new = (_moves.version(host.software.kernel) for host in (source, target))
    if old and old >= LEAKING:
        return
    if not old:
        raise UnreadError(f"which kernel {source.name} runs", "its version")
    if isinstance(target.cpu, Known) and "pku" not in target.cpu.value.flags:
        yield _moves.told(
            f"{source.name}'s kernel {source.software.kernel} sends protection keys (PKRU) along "
            f"that the guest does not see, and {target.name}'s CPU has none.",
            stops=(LIVE,),
            flags=("pku",),
        )
        return
    if not new:
        raise UnreadError(f"which kernel {target.name} runs", "its version")
    if LEAKING <= new < CURED:
        yield _moves.told(
            f"From kernel {source.software.kernel} to {target.software.kernel} guests that see no "
            "protection keys can hang at 100 %: the old kernel sends its own (PKRU) along.",
            unsure=(LIVE,),
            flags=("pku",),
            needs=f"whether the kernel of {target.name} has the cure (Proxmox VE: 6.2.16-4)",
        )


RULE = Rule("MIG005", "The guest's registers do not fit the target", About.MOVE, check, (LIVE,))
