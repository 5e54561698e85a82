"""What a guest's CPU would be on another host: as it runs now, and after its next start.

A guest that moves alive keeps the flags that it was started with; what its target cannot give of
them is `lost`. The hypervisor's own word on the target goes first, its kernel's list second
(`unmask.cpu.node_flags`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from unmask.cpu.node_flags import lacking, uncertain
from unmask.cpu.passthrough import gives
from unmask.cpu.resolve import resolve
from unmask.model.baseline import Node, UnknownNode
from unmask.model.case import GuestCase
from unmask.model.cpu import Accelerator, CpuSpec, FeatureView, HostCpu, Mode, State
from unmask.model.inventory import Guest, Host, Platform
from unmask.model.reading import Known, Missing

NOT_MOVED = frozenset({"invtsc"})
"""QEMU moves no guest that has them: another matter than what the target has."""
NESTING = frozenset({"svm", "vmx"})
NOWHERE = Missing("nothing is taken away by a host that is not looked at")
PASSING = (Mode.HOST, Mode.MAXIMUM)


@dataclass(frozen=True, slots=True)
class Views:
    """A guest's CPU on a target."""

    alive: FeatureView
    started: FeatureView
    doubt: frozenset[str] = frozenset()
    """What it runs with and what the target may have or not."""
    unread: Missing | None = None
    """Why it is not known what the target can give."""
    start_doubt: frozenset[str] = frozenset()
    """What its next start demands and what the target may have or not."""


def next_spec(guest: Guest) -> CpuSpec:
    """Return the CPU specification of the guest's next start."""
    return guest.pending or guest.configured


def guarded(guest: Guest) -> bool:
    """Return whether the target's QEMU refuses a live guest of which it lacks a flag.

    Proxmox VE gives `enforce` to all but `host`; libvirt sends the running CPU along with
    check='full' (src/qemu/qemu_migration_cookie.c), whatever `check` is configured.
    """
    spec = guest.current
    if guest.platform is Platform.LIBVIRT:
        return spec.mode in (Mode.MODEL, Mode.HOST_MODEL)
    return spec.enforced


def same_silicon(one: HostCpu, other: HostCpu) -> bool:
    """Return whether two CPUs are of one vendor, family and model, whatever their microcode."""
    known = one.family is not None and one.model is not None
    return known and (one.vendor, one.family, one.model) == (
        other.vendor, other.family, other.model,
    )  # fmt: skip


def shown(view: FeatureView) -> frozenset[str]:
    """Return the flags that the guest surely sees."""
    return frozenset(flag for flag, state in view.states.items() if state is State.SHOWN)


def views(case: GuestCase, target: Host, place: Node | UnknownNode) -> Views:
    """Return what the guest of `case` would be on `target`.

    Args:
        case: The guest where it is; its `view` is what it runs with.
        target: Where it would go.
        place: What the target can give, as `node_flags.node` says.
    """
    guest = case.guest
    emulated = guest.accelerator is Accelerator.TCG
    started, start_doubt = _started(guest, target, place)
    if emulated:
        return Views(*_emulated(case, target, started))
    if isinstance(place, UnknownNode):
        # What its own host does not give is no word on this one.
        alive = replace(case.view, lost=frozenset(), starts=True)
        return Views(alive, started, unread=Missing(place.reason, place.needs))
    lost, doubt = _held(case, target, place)
    starts = not (lost and guarded(guest))
    alive = replace(case.view, lost=lost, starts=starts)
    return Views(alive, started, doubt, start_doubt=start_doubt)


def _held(case: GuestCase, target: Host, place: Node) -> tuple[frozenset[str], frozenset[str]]:
    """Return what of a KVM guest's flags the target lacks, and what it may lack."""
    source = case.host.value if isinstance(case.host, Known) else None
    if source and source.cpu == target.cpu and source.offers == target.offers:
        return frozenset(), frozenset()
    spec = case.guest.current
    asked = shown(case.view) - NOT_MOVED
    if spec.mode in PASSING and source and nesting(source) is False:
        asked -= NESTING
    if spec.mode in PASSING:
        asked -= _by_kernel(asked, target)
    else:
        asked -= _answered(spec, place)
    return lacking(place, asked), uncertain(place, asked)


def _by_kernel(asked: frozenset[str], target: Host) -> frozenset[str]:
    """Return what the target's kernel has: `host` passes on more than libvirt has words for."""
    if not isinstance(target.cpu, Known) or not target.cpu.value.complete:
        return frozenset()
    return frozenset(flag for flag in asked if gives(flag, target.cpu.value.flags))


def _answered(spec: CpuSpec, place: Node) -> frozenset[str]:
    """Return the flags that come with a model which the target's libvirt says that it can run."""
    if not spec.model or dict(place.usable).get(spec.model) is not True:
        return frozenset()
    bare = replace(spec, on=frozenset(), off=frozenset(), exact=False, optional=frozenset())
    return shown(resolve(bare, place.arch, Accelerator.KVM, NOWHERE)) - spec.on


def nesting(host: Host) -> bool | None:
    """Return whether the host's KVM lets guests run guests; None where that was not read."""
    for name, value in host.parameters:
        if name in ("kvm_intel.nested", "kvm_amd.nested"):
            return value.strip().upper() in ("Y", "1")
    return None


def _started(
    guest: Guest, target: Host, place: Node | UnknownNode
) -> tuple[FeatureView, frozenset[str]]:
    """Return the CPU of the next start on the target, and what it demands in doubt."""
    spec = next_spec(guest)
    accelerator = guest.pending_accelerator or guest.accelerator
    view = resolve(spec, guest.arch, accelerator, target.cpu, target.offers, target.software.qemu)
    named = spec.mode is Mode.MODEL and accelerator is Accelerator.KVM and view.x86
    if not named or isinstance(place, UnknownNode):
        return view, frozenset()
    asked = shown(resolve(spec, guest.arch, accelerator, NOWHERE)) - _answered(spec, place)
    lost = lacking(place, asked)
    refused = dict(place.usable).get(spec.model) is False and not spec.off
    starts = not (spec.enforced and (lost or refused)) and not _never(spec)
    doubt = uncertain(place, asked) if spec.enforced else frozenset[str]()
    return replace(view, lost=lost, starts=starts), doubt


def _never(spec: CpuSpec) -> bool:
    """Return whether the specification itself can start nowhere."""
    return not resolve(spec, "x86_64", Accelerator.KVM, NOWHERE).starts


def _emulated(
    case: GuestCase, target: Host, started: FeatureView
) -> tuple[FeatureView, FeatureView, frozenset[str]]:
    """What TCG shows depends on QEMU's version alone."""
    guest = case.guest
    spec = replace(guest.current, exact=False)
    there = resolve(
        spec, guest.arch, guest.accelerator, target.cpu, target.offers, target.software.qemu
    )
    source = case.host.value if isinstance(case.host, Known) else None
    if source and target.software.qemu and source.software.qemu == target.software.qemu:
        return case.view, started, frozenset()
    asked = shown(case.view)
    lost = frozenset(flag for flag in asked if there.hides(flag))
    doubt = frozenset(flag for flag in asked if there.state(flag) is State.UNKNOWN)
    return replace(case.view, lost=lost, starts=not (lost and guarded(guest))), started, doubt
