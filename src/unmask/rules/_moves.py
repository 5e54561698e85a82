"""What the rules on moves share: whom they look at, and how they speak."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

from unmask.cpu import move_views
from unmask.errors import UnreadError
from unmask.model.cpu import Accelerator, HostCpu, Mode, State
from unmask.model.finding import Confidence, Problem, Severity
from unmask.model.inventory import GuestKind, GuestState, Host
from unmask.model.move import MoveCase
from unmask.model.move_kind import BOTH, COLD, LIVE, MoveKind
from unmask.model.reading import Known, Missing
from unmask.rules import _models, _words

PASSING = (Mode.HOST, Mode.MAXIMUM)
MACHINE = re.compile(r"-(?P<version>\d{1,3}\.\d{1,3})(?:\+pve\d{1,3})?$")
"""The version at the end of a machine type."""


def told(
    message: str,
    *,
    stops: tuple[MoveKind, ...] = (),
    unsure: tuple[MoveKind, ...] = (),
    flags: Collection[str] = (),
    needs: str = "",
) -> Problem:
    """Return what a rule says of a move: a full sentence, and what follows for which kinds."""
    return Problem(
        severity=Severity.INFO,
        message=message,
        confidence=Confidence.FIRM,
        flags=tuple(sorted(flags)),
        stops=stops,
        unsure=unsure,
        needs=needs,
    )


def is_vm(move: MoveCase) -> bool:
    """Return whether it is a virtual machine: a container has no CPU of its own."""
    guest = move.case.guest
    return guest.kind is GuestKind.VM and guest.current.mode is not Mode.NONE


def alive(move: MoveCase) -> bool:
    """Return whether the guest runs, as far as is known, so that it can move alive."""
    guest = move.case.guest
    moving = (GuestState.RUNNING, GuestState.PAUSED, GuestState.UNKNOWN)
    return is_vm(move) and not guest.template and guest.state in moving


def kinds(move: MoveCase) -> tuple[MoveKind, ...]:
    """Return the kinds of move that come into question at all."""
    return BOTH if alive(move) else (COLD,)


def under_kvm(move: MoveCase) -> bool:
    """Return whether KVM runs the guest; raises `UnreadError` where nobody knows what does."""
    accelerator = move.case.guest.accelerator
    if accelerator is Accelerator.UNKNOWN:
        raise UnreadError("whether KVM or an emulator runs the guest")
    return accelerator is Accelerator.KVM


def moves_under_kvm(move: MoveCase) -> bool:
    """Return whether a guest of KVM can move alive, and the target's CPU is known.

    Where it is not, MIG001 says so once.
    """
    kvm = move.case.guest.accelerator is Accelerator.KVM
    return kvm and alive(move) and move.unread is None


def guarded(move: MoveCase) -> bool:
    """Return whether the target's QEMU refuses a live guest of which it lacks a flag."""
    return move_views.guarded(move.case.guest)


def open_ended(move: MoveCase) -> bool:
    """Return whether it is not fully known with which flags the guest runs."""
    return move.case.view.rest is not State.HIDDEN


def cpus(move: MoveCase) -> tuple[HostCpu, HostCpu] | None:
    """Return the CPUs of both hosts; None where one of them is not known."""
    source, target = move.source, move.target.cpu
    if not isinstance(source, Known) or not isinstance(source.value.cpu, Known):
        return None
    return (source.value.cpu.value, target.value) if isinstance(target, Known) else None


def same_silicon(move: MoveCase) -> bool:
    """Return whether both hosts surely have CPUs of one vendor, family and model."""
    both = cpus(move)
    return both is not None and move_views.same_silicon(*both)


def withdrawn(move: MoveCase, lost: frozenset[str]) -> frozenset[str]:
    """Return what of `lost` the target lost to microcode or firmware, not to its silicon."""
    return lost if same_silicon(move) else lost & _models.TSX


def qemu(host: Host) -> str:
    """Return the version of QEMU on a host, "" where it is not known.

    Where nobody read it, the machine type of libvirt's domain capabilities tells it: they name the
    newest one of that QEMU unless another was asked for.
    """
    if host.software.qemu:
        return host.software.qemu
    found = [MACHINE.search(offer.machine) for offer in host.offers]
    return max((match["version"] for match in found if match), key=version, default="")


def foreign(guest: str, host: str) -> bool:
    """Return whether a host cannot run a guest's code; a 64-bit x86 host runs 32-bit guests."""
    return bool(guest and host) and guest != host and (guest, host) != ("i686", "x86_64")


def unasked(target: Host, why: Missing, what: str) -> Problem:
    """Return that a target could not be asked, of what does not depend on its CPU."""
    return told(
        f"Whether {target.name} can run the {what} is not known: {why.reason}.",
        unsure=(COLD,),
        needs=why.needs or f"/proc/cpuinfo of {target.name}",
    )


def leaves_cluster(move: MoveCase) -> bool:
    """Return whether the target is in another cluster than the guest."""
    source = move.source
    return isinstance(source, Known) and source.value.cluster != move.target.cluster


@lru_cache(maxsize=1024)
def version(text: str) -> tuple[int, ...]:
    """Return the first two numbers of a version, () where there are none."""
    return tuple(int(part) for part in re.findall(r"\d{1,5}", text)[:2])


def named(flags: Collection[str], move: MoveCase) -> str:
    """Return flags as a list for a sentence."""
    return _words.flags(flags, move.case.view.arch or "x86_64")


__all__ = [
    "BOTH",
    "COLD",
    "LIVE",
    "MACHINE",
    "PASSING",
    "MoveKind",
    "alive",
    "cpus",
    "foreign",
    "guarded",
    "is_vm",
    "kinds",
    "leaves_cluster",
    "moves_under_kvm",
    "named",
    "open_ended",
    "qemu",
    "same_silicon",
    "told",
    "unasked",
    "under_kvm",
    "version",
    "withdrawn",
]  # fmt: skip
