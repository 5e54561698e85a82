"""Guests to which no change of a CPU model helps, and what does instead."""

from __future__ import annotations

from unmask.cpu import shown_name
from unmask.model.case import GuestCase
from unmask.model.cpu import Accelerator
from unmask.model.inventory import GuestKind, Platform
from unmask.model.reading import Known
from unmask.rules import _scope, _words

KVM_FIRST = (
    "Let KVM run the guest (CPU004 says how): under emulation every instruction is translated, and "
    "no flag makes encryption fast."
)
OTHER = (
    "Its hypervisor is neither KVM nor QEMU: which flags it shows is a setting of its own, which "
    "unmask does not know."
)


def explained(case: GuestCase, wanted: frozenset[str]) -> str:
    """Return what to do where the CPU model is not the place for it; "" where it is."""
    if case.guest.platform is Platform.UNSEEN:
        return _unseen(case, wanted)
    if case.guest.kind is GuestKind.CONTAINER or not _scope.has_cpu(case):
        return (
            "A container runs on its host's CPU: only another host, or a virtual machine, changes "
            "what it sees."
        )
    later = _scope.restart_brings(case)
    if case.view.accelerator is Accelerator.TCG and not (
        later and later.accelerator is Accelerator.KVM
    ):
        return KVM_FIRST
    if not case.view.x86:
        return _foreign(case, wanted)
    if case.view.accelerator is Accelerator.OTHER:
        return OTHER
    return _hidden_inside(case, wanted)


def physical(case: GuestCase) -> bool:
    """Return whether what was seen is surely no virtual machine."""
    inside = _scope.inside(case)
    if inside is None or not isinstance(inside.virtualisation, Known):
        return False
    seen, view = inside.virtualisation.value, _scope.seen(case)
    told = seen.detected == "none" or (view.x86 and not seen.detected)
    if seen.hypervisor_flag or view.shows("hypervisor") or not told:
        return False
    # KVM can hide itself, but the names of QEMU's models give it away.
    name = inside.cpu.value.model_name if isinstance(inside.cpu, Known) else ""
    return not (name in shown_name.models() or name.startswith("QEMU "))


def _unseen(case: GuestCase, wanted: frozenset[str]) -> str:
    names = _words.flags(_lacking(case, wanted), arch=_scope.seen(case).arch)
    if physical(case):
        return (
            f"No hypervisor is seen that could hide {names}: look for a setting in the firmware; "
            "otherwise this CPU has none."
        )
    if _scope.seen(case).arch in _words.ARM:
        return f"Only the provider can change that: ask for a machine whose CPU has {names}."
    return (
        f"Only the provider can change that: ask for a CPU type that shows {names} (host, or a "
        "named model that has it), or for another product or machine."
    )


def _foreign(case: GuestCase, wanted: frozenset[str]) -> str:
    names = _words.flags(_lacking(case, wanted), arch=case.view.arch)
    if case.view.arch not in _words.ARM:
        return "No x86 CPU model applies to this architecture; its host decides what is there."
    own = (
        "<cpu mode='host-passthrough'/>"
        if case.guest.platform is Platform.LIBVIRT
        else "the CPU type host"
    )
    return (
        f"Under KVM an ARM guest gets {names} only with {own}, on a host whose CPU has them; small "
        "boards often have none."
    )


def _hidden_inside(case: GuestCase, wanted: frozenset[str]) -> str:
    """Return what to do where the configured CPU shows what the guest does not see."""
    lacking = frozenset(flag for flag in wanted if not _scope.seen(case).shows(flag))
    overlooked = _scope.cleared(case) & wanted
    if overlooked and case.view.shows(*wanted):
        return (
            f"{case.view.label} shows {_words.flags(overlooked)}, and the guest's kernel is told "
            "to overlook it: take clearcpuid out of the kernel's command line in the guest and "
            "restart it."
        )
    if case.observed is None or not lacking or not case.view.shows(*lacking):
        return ""
    return (
        f"{case.view.label} shows {_words.flags(lacking)} already, and the guest does not see "
        f"{'it' if len(lacking) == 1 else 'them'}: CPU012 says what may be the cause."
    )


def _lacking(case: GuestCase, wanted: frozenset[str]) -> frozenset[str]:
    seen = _scope.seen(case)
    return frozenset(flag for flag in wanted if not seen.shows(flag)) or wanted
