"""What the encrypted work of guests needs of a CPU, whatever they see of it now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from unmask.cpu.features import REPORTED_X86
from unmask.crypto.consumers import consumers
from unmask.crypto.outlook import judge
from unmask.model.baseline import Needs
from unmask.model.case import GuestCase
from unmask.model.cpu import Accelerator, FeatureView, State
from unmask.model.inventory import Guest
from unmask.model.reading import Known
from unmask.model.workload import Workload

DEFAULT = ("aes", "pclmulqdq")
BY_DEFAULT = "taken by default, as no encrypted work of the guests is known"
BY_WORK = "what the guests' encrypted work needs"
BY_REQUEST = "named with --need"


def of_guests(cases: Iterable[GuestCase]) -> Needs:
    """Return what the encrypted workloads of x86 guests under KVM need, the commonest need first.

    A workload needs the flags of its fast path; what would make that faster still is `helpful`.
    Where no workload is known the needs are AES and PCLMULQDQ, and `origin` says so.
    """
    wanted: dict[str, set[str]] = {}
    helpful: set[str] = set()
    for case in cases:
        if not counted(case):
            continue
        for judged in case.workloads:
            needs, more = _of_workload(judged.workload)
            helpful.update(more)
            for flag in needs:
                wanted.setdefault(flag, set()).add(case.guest.subject)
    if not wanted:
        return Needs(DEFAULT, origin=BY_DEFAULT)
    flags = tuple(sorted(wanted, key=lambda flag: (-len(wanted[flag]), _place(flag))))
    return Needs(
        flags,
        tuple(sorted(helpful - wanted.keys(), key=_place)),
        BY_WORK,
        tuple((flag, tuple(sorted(wanted[flag]))) for flag in flags),
    )


def asked(flags: Sequence[str]) -> Needs:
    """Return what the operator names, in that order."""
    return Needs(tuple(dict.fromkeys(flags)), origin=BY_REQUEST)


def counted(case: GuestCase) -> bool:
    """Return whether a node's flags can reach this guest through a CPU model."""
    return case.view.x86 and case.view.accelerator is Accelerator.KVM


def windows(guest: Guest) -> bool:
    """Return whether Windows runs in a guest: as it says itself, else as it is declared."""
    inside = guest.visit.inside
    if isinstance(inside, Known) and isinstance(inside.value.system, Known):
        return inside.value.system.value.kernel_name == "Windows"
    declared = guest.os_declared.lower()
    short = declared.startswith(("win", "w2k", "wxp", "wvista"))
    return short or "microsoft.com/" in declared


def _of_workload(workload: Workload) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the flags of its fast path, and those of the next faster one."""
    consumer = consumers().get(workload.consumer)
    if consumer is None or workload.host_side:
        return (), ()
    bare = judge(consumer, _showing(), version=workload.version, cipher=workload.cipher)
    if not bare.missing:
        return (), ()
    served = _showing(*bare.missing)
    better = judge(consumer, served, version=workload.version, cipher=workload.cipher).better
    return bare.missing, better


def _showing(*flags: str) -> FeatureView:
    """Return what a guest would see of a CPU with these flags alone."""
    return FeatureView(
        arch="x86_64",
        accelerator=Accelerator.KVM,
        label="",
        model="",
        vendor="",
        states=dict.fromkeys(flags, State.SHOWN),
        rest=State.HIDDEN,
        level=1,
        level_certain=True,
    )


def _place(flag: str) -> tuple[int, str]:
    known = REPORTED_X86.index(flag) if flag in REPORTED_X86 else len(REPORTED_X86)
    return known, flag
