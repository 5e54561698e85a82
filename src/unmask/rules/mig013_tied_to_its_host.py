"""Something beside the CPU holds the guest on its host: a device, a disk, memory.

## Why it matters

A PCI or USB device that was handed through, a disk that only this node has, an ISO image in a
drive, memory that is encrypted by this machine's firmware (SEV, TDX): none of these is on another
node, and the migration fails, or never begins. Local disks are copied, which takes its time.

## How it decides

It reads the guest's configuration, the storages and the mappings (the page on targets says which
privileges that takes). A tie blocks the kinds of move that it concerns, to nodes that do not have
the same thing. What could not be read leaves them unknown, and so does what only the target tells,
such as free huge pages. libvirt migrates no domain with snapshots, and of a disk that is a file or
block device only the target tells whether it is there too: stopped, such a guest is unknown; alive,
libvirt can copy it. A disk that the move copies is told, as are all of them on the way to another
cluster. Pinned processors are told too.

## Remedy

Use shared storage or replication, mappings of devices (with `live-migration-capable` where the
device can), and eject ISO images.

## What fix does

It moves nothing. Where this would hold for the guest with its new CPU, the plan names it as a
constraint that has to be acknowledged (`--ack MIG013`).

## When to accept it

Where the guest is meant to stay with its device.

## References

- qemu-server, src/PVE/QemuMigrate.pm, src/PVE/QemuMigrate/Helpers.pm
- libvirt, src/qemu/qemu_migration.c, qemuMigrationSrcIsAllowed and qemuMigrationSrcIsSafe
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.errors import UnreadError
from unmask.model.finding import About, Problem, Rule
from unmask.model.inventory import Platform
from unmask.model.move import MoveCase
from unmask.model.reading import Missing
from unmask.model.tie import Tie, TieKind
from unmask.rules import _moves
from unmask.rules._moves import COLD, LIVE, MoveKind

DISKS = (TieKind.LOCAL_DISK, TieKind.STORAGE, TieKind.LOCAL_FILE)
WORDS = {
    TieKind.PASSTHROUGH: "a device of this host",
    TieKind.LOCAL_DISK: "a local disk",
    TieKind.STORAGE: "storage that is not there",
    TieKind.LOCAL_FILE: "a local file",
    TieKind.HUGEPAGES: "huge pages",
    TieKind.CONFIDENTIAL: "memory bound to this machine",
    TieKind.AFFINITY: "pinned processors",
    TieKind.RESOURCE: "a resource of this host",
    TieKind.SNAPSHOTS: "snapshots",
}


def check(move: MoveCase) -> Iterator[Problem]:
    """Yield what holds the guest on its host; raises where that was not read."""
    ties = move.case.guest.ties
    if isinstance(ties, Missing):
        raise UnreadError(f"what holds it on its host: {ties.reason}", ties.needs)
    for tie in ties.value:
        yield from _told(move, tie)


def _told(move: MoveCase, tie: Tie) -> Iterator[Problem]:
    target = move.target.name
    if not tie.live and not tie.cold:
        yield from _to_know(move, tie)
        return
    kinds = _kinds(move, tie)
    if tie.kind in DISKS and _moves.leaves_cluster(move):
        if kinds:
            yield _moves.told(
                f"To another cluster qm remote-migrate copies {tie.what} to a storage that it is "
                "told."
            )
        return
    if target in tie.copied_to and kinds and not _moves.leaves_cluster(move):
        yield _moves.told(f"The move copies {tie.what} to {target}{_option(move, kinds)}.")
    elif kinds and (tie.holds(target) or _moves.leaves_cluster(move)):
        if tie.unread is not None:
            yield _moves.told(
                f"{tie.what}: {tie.unread.reason}.", unsure=kinds, needs=tie.unread.needs
            )
        else:
            yield _moves.told(_sentence(tie, target), stops=kinds)


def _to_know(move: MoveCase, tie: Tie) -> Iterator[Problem]:
    """What stops nothing: a disk of libvirt's is shared, or a live migration copies it."""
    said = f"{tie.what} ({WORDS[tie.kind]})"
    if tie.kind is not TieKind.LOCAL_DISK:
        yield _moves.told(f"{said} goes along as it is written.")
    elif _moves.alive(move):
        yield _moves.told(f"{said} goes along alive with --copy-storage-all, if it is not shared.")


def _sentence(tie: Tie, target: str) -> str:
    """A tie of live moves alone is of what cannot go along, even to a node that has the like."""
    if tie.kind is TieKind.CONFIDENTIAL:
        return f"{tie.what} binds the guest's memory to this machine."
    if tie.kind is TieKind.SNAPSHOTS:
        return f"{tie.what} hold the guest: libvirt migrates no domain that has some."
    said = f"{tie.what} ({WORDS[tie.kind]})"
    if not tie.cold:
        return f"{said} keeps the guest from going to {target} alive."
    return f"{said} holds the guest: {target} does not have it."


def _kinds(move: MoveCase, tie: Tie) -> tuple[MoveKind, ...]:
    """Return the kinds of move that come into question and that the tie concerns."""
    concerned = {LIVE: tie.live, COLD: tie.cold}
    return tuple(kind for kind in _moves.kinds(move) if concerned[kind])


def _option(move: MoveCase, kinds: tuple[MoveKind, ...]) -> str:
    proxmox = move.case.guest.platform is Platform.PROXMOX
    return " (alive with --with-local-disks)" if proxmox and LIVE in kinds else ""


RULE = Rule("MIG013", "Something holds the guest on its host", About.MOVE, check)
