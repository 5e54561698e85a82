"""Which guests the rules on CPU models look at, and when they must say that they cannot."""

from __future__ import annotations

from dataclasses import replace

from unmask.cpu import observed
from unmask.errors import UnreadError
from unmask.model.case import GuestCase
from unmask.model.cpu import Accelerator, FeatureView, HostCpu, Mode, RemarkKind, State
from unmask.model.inside import Inside
from unmask.model.inventory import GuestKind, GuestState, Platform
from unmask.model.reading import Known


def has_cpu(case: GuestCase) -> bool:
    """Return whether the guest has a CPU that a configuration which was read decides.

    A container shares its host's, and of a rented machine nobody sees the configuration.
    """
    if case.guest.platform is Platform.UNSEEN:
        return False
    return case.guest.kind is GuestKind.VM and case.guest.current.mode is not Mode.NONE


def seen(case: GuestCase) -> FeatureView:
    """Return what the guest sees: as it says itself, else as it is configured."""
    return case.observed or case.view


def on_x86(case: GuestCase) -> bool:
    """Return whether this is a virtual machine with an x86 CPU; raises where that is unknown."""
    if not has_cpu(case):
        return False
    if not case.view.arch:
        raise UnreadError("the guest's architecture is not known", "its complete configuration")
    return case.view.x86


def accelerated(case: GuestCase) -> bool:
    """Return whether KVM runs the guest; raises `UnreadError` where that is unknown."""
    if case.view.accelerator is Accelerator.UNKNOWN:
        raise UnreadError("whether KVM or an emulator runs the guest is not known")
    return case.view.accelerator is Accelerator.KVM


def on_kvm_x86(case: GuestCase) -> bool:
    """Return whether this is a virtual machine with an x86 CPU under KVM."""
    return on_x86(case) and accelerated(case)


def known_host_cpu(case: GuestCase) -> HostCpu | None:
    """Return the host's CPU, None where it is not known: for rules that need not have it."""
    known = isinstance(case.host, Known) and isinstance(case.host.value.cpu, Known)
    return case.host_cpu if known else None


def model_usable(case: GuestCase) -> bool | None:
    """Return the hypervisor's own answer whether the host can run the guest's model.

    It is about the model as QEMU defines it, without flags beside it. None: it was not asked, or
    its emulators differ.
    """
    if not isinstance(case.host, Known):
        return None
    kind = (case.view.arch, case.view.accelerator)
    answers = {
        dict(offer.usable).get(case.view.model)
        for offer in case.host.value.offers
        if (offer.arch, offer.accelerator) == kind
    } - {None}
    return answers.pop() if len(answers) == 1 else None


def restart_brings(case: GuestCase) -> FeatureView | None:
    """Return what a stop and start brings, None without a pending change or where it cannot start.

    Nobody is to be told to restart a guest that would not come back.
    """
    return case.pending if case.pending and case.pending.starts else None


def at_next_start(case: GuestCase) -> GuestCase:
    """Return the case as it will be after a stop and start: itself where no change is pending."""
    if case.pending is None or case.guest.pending is None:
        return case
    guest = replace(
        case.guest,
        configured=case.guest.pending,
        running=None,
        pending=None,
        accelerator=case.guest.pending_accelerator or case.guest.accelerator,
        pending_accelerator=None,
    )
    return replace(case, guest=guest, view=case.pending, pending=None)


def settled(case: GuestCase, flag: str) -> State:
    """Return the state of `flag`; raises `UnreadError` where it is unknown."""
    state = case.view.state(flag)
    if state is State.UNKNOWN:
        raise UnreadError(unresolved(case), "a CPU that this program can resolve")
    return state


def unresolved(case: GuestCase) -> str:
    """Return why the guest's CPU is not fully known, as a sentence without a full stop."""
    remarks = case.guest.current.remarked(RemarkKind.UNRESOLVED)
    if remarks:
        return remarks[0].text.rstrip(".")
    last = f": {case.view.steps[-1]}" if case.view.steps else ""
    return f"what {case.view.label or 'its CPU'} shows is not known{last}"


def runs(case: GuestCase) -> bool:
    """Return whether a process holds the guest, so that it has the CPU it was started with."""
    return case.guest.state in (GuestState.RUNNING, GuestState.PAUSED)


def inside(case: GuestCase) -> Inside | None:
    """Return what was read inside the guest; None where nobody was there."""
    read = case.guest.visit.inside
    return read.value if isinstance(read, Known) else None


def cleared(case: GuestCase) -> frozenset[str]:
    """Return the flags that the guest's kernel was told to overlook: programs see them."""
    seen_inside = inside(case)
    if seen_inside is None or not isinstance(seen_inside.kernel_crypto, Known):
        return frozenset()
    if not seen(case).x86:
        return frozenset()
    return observed.cleared(seen_inside.kernel_crypto.value.parameters)


def windows(case: GuestCase) -> bool:
    """Return whether Windows runs in the guest: as it says itself, else as it is declared."""
    seen_inside = inside(case)
    if seen_inside is not None and isinstance(seen_inside.system, Known):
        return seen_inside.system.value.kernel_name == "Windows"
    declared = case.guest.os_declared.lower()
    short = declared.startswith(("win", "w2k", "wxp", "wvista"))
    return short or "microsoft.com/" in declared
