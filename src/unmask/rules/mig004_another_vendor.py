"""The target's CPU is of another vendor than the one that the guest runs on.

## Why it matters

Intel's and AMD's processors differ in more than flags: in details of system calls from 32-bit
programs, in the defences that a kernel has chosen when it started, in clocks. A model that names no
vendor (kvm64, qemu64, Proxmox VE's x86-64-v2 and its like) shows the vendor of the host, which then
changes under the running guest. Such moves often go well, and nobody guarantees it.

## How it decides

It compares the CPUID vendors of both nodes. A live move between two vendors is unknown where no
flag is missing, which the other rules tell; a cold one is not affected, unless the configuration
asks for a vendor (libvirt's `<vendor>`): then nothing starts on another one's CPU. Where a vendor
is not known, the live move is unknown too.

## Remedy

Move the guest stopped, or try it with one that may crash.

## What fix does

Nothing: hardware does not change.

## When to accept it

Where the same move of a guest with the same system and model has been tried.

## References

- Proxmox VE documentation, qm.adoc, "CPU Type": live migrations between Intel and AMD
- QEMU, target/i386/kvm/kvm-cpu.c: KVM shows the host's vendor unless one is given
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.cpu import move_views
from unmask.errors import UnreadError
from unmask.model.finding import About, Problem, Rule
from unmask.model.move import MoveCase
from unmask.model.reading import Known
from unmask.rules import _moves
from unmask.rules._moves import LIVE

MAKERS = {"AuthenticAMD": "AMD", "GenuineIntel": "Intel", "HygonGenuine": "Hygon"}


def check(move: MoveCase) -> Iterator[Problem]:
    """Yield that the vendor changes under a running guest."""
    yield from _required(move)
    if not _moves.moves_under_kvm(move) or not move.case.view.x86:
        return
    both = _moves.cpus(move)
    if both is None:
        raise UnreadError("whether both nodes have CPUs of one vendor", "the CPUs of both nodes")
    source, target = (cpu.vendor for cpu in both)
    if not source or not target:
        raise UnreadError("whether both nodes have CPUs of one vendor", "/proc/cpuinfo of both")
    if source != target:
        yield _moves.told(
            f"The CPU's vendor changes from {_maker(source)} to {_maker(target)} under the running "
            "guest: that often goes well, and nobody guarantees it.",
            unsure=(LIVE,),
            needs="a trial with a guest that may crash; a cold move is safe",
        )


def _required(move: MoveCase) -> Iterator[Problem]:
    """Yield where the configuration refuses the target's vendor."""
    spec = move_views.next_spec(move.case.guest)
    wanted = dict(spec.properties).get("required-vendor", "")
    cpu = move.target.cpu
    if wanted and isinstance(cpu, Known) and cpu.value.vendor not in ("", wanted):
        yield _moves.told(
            f"The configuration asks for a CPU of {_maker(wanted)}, and {move.target.name} has one "
            f"of {_maker(cpu.value.vendor)}.",
            stops=_moves.kinds(move),
        )


def _maker(vendor: str) -> str:
    return MAKERS.get(vendor, vendor)


RULE = Rule("MIG004", "The CPU's vendor changes under the guest", About.MOVE, check, (LIVE,))
