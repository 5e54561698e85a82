"""The target's QEMU does not know the guest's machine type, or may not: it is too new or too old.

## Why it matters

A machine type such as `pc-q35-10.1` is a promise of QEMU that the guest sees the same hardware
everywhere. An older QEMU does not know it and does not start. Without a version in the
configuration a guest gets the newest one of the QEMU that starts it, and keeps it while it runs:
during a round of updates guests go to updated nodes and cannot come back. New versions of QEMU in
turn drop machine types that are older than six years.

## How it decides

A type with a version is held against the version of the target's QEMU: an older QEMU blocks both
kinds of move, and so does one that has dropped the type. Up to 10.0, QEMU has dropped no type of a
PC that is newer than 2.3; from 10.1 on it drops those of six major versions before. A type without
a version concerns live moves alone: they are unknown where the target's QEMU is older than the
source's, as the guest may have been started by an older one. Names of distributions (`rhel9.4.0`,
`jammy`) tell nothing to others: without equal versions of QEMU they leave both unknown, and so does
a version of QEMU that was not read and that no domain capabilities of libvirt tell.

## Remedy

Update the target first; move guests from older nodes to newer ones. Give a guest whose machine is
dropped a newer type while its node still knows both; the guest then sees other hardware.

## What fix does

It moves nothing. Where this would hold for the guest with its new CPU, the plan names it as a
constraint that has to be acknowledged (`--ack MIG007`).

## When to accept it

Hardly ever: the target refuses the guest.

## References

- QEMU documentation, "Machine types and migration", "Deprecated features" (six years), and
  "Removed features" up to 10.0 (`pc-0.10` up to `pc-i440fx-2.3`)
- QEMU, include/hw/boards.h, MACHINE_VER_DELETION_MAJOR; what QEMU 7.2 and 10.0 list
- qemu-server, src/PVE/QemuServer/Machine.pm; pve-docs, qm.adoc, "Machine Type"
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

PLAIN = ("", "microvm", "pc", "pc-i440fx", "pc-q35", "pseries", "q35", "s390-ccw-virtio", "virt")
"""Names that stand for the newest version."""
YEARS = 6
AGED = (10, 1)
"""From here on QEMU drops the machine types of major versions that are this much older."""
KEPT = {
    "pc": (((9, 1), (2, 4)), ((8, 2), (2, 0)), ((6, 0), (1, 4))),
    "pc-i440fx": (((9, 1), (2, 4)), ((8, 2), (2, 0)), ((6, 0), (1, 4))),
    "pc-q35": (((7, 2), (2, 4)),),
}
"""Before that: since which QEMU what the oldest type of a kind is."""


def check(move: MoveCase) -> Iterator[Problem]:
    """Yield where the target's QEMU does not know the guest's machine."""
    if not _moves.is_vm(move):
        return
    machine = move.case.guest.machine
    match = _moves.MACHINE.search(machine)
    if match:
        yield from _versioned(move, machine, _moves.version(match["version"]))
    elif machine in PLAIN:
        yield from _newest(move)
    elif not _same_qemu(move):
        yield _moves.told(
            f"Whether {move.target.name} knows the machine type {machine} is not known.",
            unsure=_moves.kinds(move),
            needs=f"`{_asking(machine)}` on {move.target.name}",
        )


def _asking(machine: str) -> str:
    arch = "x86_64" if machine.startswith("pc") else "ARCH"
    return f"qemu-system-{arch} -machine help"


def _versioned(move: MoveCase, machine: str, wanted: tuple[int, ...]) -> Iterator[Problem]:
    there = _moves.qemu(move.target)
    if not _moves.version(there):
        yield _moves.told(
            f"Whether {move.target.name}'s QEMU knows the machine type {machine} is not known.",
            unsure=_moves.kinds(move),
            needs=f"the version of QEMU on {move.target.name}",
        )
    elif _moves.version(there) < wanted:
        yield _moves.told(
            f"{move.target.name} has QEMU {there}, which does not know the guest's machine type "
            f"{machine}.",
            stops=_moves.BOTH,
        )
    elif _dropped(machine, wanted, _moves.version(there)):
        yield _moves.told(
            f"{move.target.name} has QEMU {there}, which has dropped the guest's machine type "
            f"{machine} as too old.",
            stops=_moves.BOTH,
        )


def _dropped(machine: str, wanted: tuple[int, ...], there: tuple[int, ...]) -> bool:
    """Return whether QEMU of version `there` knows the type no longer."""
    if there >= AGED and wanted <= (there[0] - YEARS, *there[1:]):
        return True
    kept = KEPT.get(machine.rpartition("-")[0], ())
    return any(there >= since and wanted < oldest for since, oldest in kept)


def _newest(move: MoveCase) -> Iterator[Problem]:
    """Yield where a running guest may have a machine that the target does not know yet."""
    if not _moves.alive(move):
        return
    source = move.source
    here = _moves.qemu(source.value) if isinstance(source, Known) else ""
    there = _moves.qemu(move.target)
    if not _moves.version(here) or not _moves.version(there):
        unread = _unread(source.value if isinstance(source, Known) else None, move.target)
        raise UnreadError("which versions of QEMU run on both nodes", unread)
    if _moves.version(there) < _moves.version(here):
        yield _moves.told(
            f"{move.target.name} has QEMU {there}, older than the {here} here: the running guest's "
            "machine may be newer than it knows.",
            unsure=(LIVE,),
            needs="the machine type of the running process",
        )


def _unread(source: Host | None, target: Host) -> str:
    hosts = [host.name for host in (source, target) if host and not _moves.qemu(host)]
    return f"the version of QEMU on {' and '.join(hosts)}" if hosts else "the host of the guest"


def _same_qemu(move: MoveCase) -> bool:
    source = move.source
    there = _moves.qemu(move.target)
    return bool(there) and isinstance(source, Known) and _moves.qemu(source.value) == there


RULE = Rule(
    "MIG007", "The target's QEMU does not know the guest's machine", About.MOVE, check, (LIVE,)
)
