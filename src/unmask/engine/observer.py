"""What each guest that was entered says of its own CPU, made once for all that say the same."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from unmask.cpu import observed
from unmask.cpu.observed import contradicted
from unmask.model.cpu import Accelerator, FeatureView, HostCpu
from unmask.model.inside import Inside
from unmask.model.inventory import Guest, Platform
from unmask.model.reading import Known

_DETECTED = {
    "kvm": Accelerator.KVM,
    "qemu": Accelerator.TCG,
    "amazon": Accelerator.KVM,
    "google": Accelerator.KVM,
    "": Accelerator.UNKNOWN,
    "generic": Accelerator.UNKNOWN,
}
"""Words of systemd-detect-virt (src/basic/virt.c; "qemu" is QEMU without KVM) and of FreeBSD's
kern.vm_guest; every other word is a hypervisor that KVM's rules do not hold for, or bare metal."""

_Key: TypeAlias = tuple[str, frozenset[str], str, bool, Accelerator, str, str, tuple[str, ...], int]


@dataclass(frozen=True, slots=True)
class Sight:
    """The same CPU for programs and for the kernel, which may have been told to overlook flags."""

    programs: FeatureView
    kernel: FeatureView


@dataclass(slots=True)
class Observer:
    """Makes the views of one inventory's guests."""

    _found: dict[_Key, Sight] = field(default_factory=dict)

    def sight(self, guest: Guest, resolved: FeatureView) -> Sight | None:
        """Return what the guest itself sees; None where that is not known.

        Nobody looked, its CPU was not read, or it claims one that it cannot have.

        Args:
            guest: The guest.
            resolved: What it should see. It has to live as long as this observer.
        """
        if not isinstance(guest.visit.inside, Known):
            return None
        inside = guest.visit.inside.value
        if not isinstance(inside.cpu, Known):
            return None
        cpu, kernel, words = inside.cpu.value, _kernel(inside), _parameters(inside)
        if contradicted(cpu.arch, guest.arch):
            return None
        accelerator = accelerator_of(guest, inside)
        label = _label(guest, cpu, resolved)
        key = (
            cpu.arch, cpu.flags, cpu.vendor, cpu.complete, accelerator, label, kernel, words,
            id(resolved),
        )  # fmt: skip
        found = self._found.get(key)
        if found is None:
            told = observed.view(cpu, accelerator, label, kernel=kernel, model=resolved.model)
            seen = observed.filled(told, resolved)
            hidden = observed.cleared(words) if seen.x86 else ()
            programs = observed.with_hidden(seen, sorted(hidden), resolved)
            found = self._found[key] = Sight(programs, seen)
        return found


def accelerator_of(guest: Guest, inside: Inside) -> Accelerator:
    """Return what runs the guest: the hypervisor's word, else what the guest detects."""
    if guest.accelerator is not Accelerator.UNKNOWN:
        return guest.accelerator
    if not isinstance(inside.virtualisation, Known):
        return Accelerator.UNKNOWN
    return _DETECTED.get(inside.virtualisation.value.detected, Accelerator.OTHER)


def _label(guest: Guest, cpu: HostCpu, resolved: FeatureView) -> str:
    unseen = guest.platform is Platform.UNSEEN
    return (cpu.model_name if unseen else "") or resolved.label


def _kernel(inside: Inside) -> str:
    return inside.system.value.kernel_name if isinstance(inside.system, Known) else "Linux"


def _parameters(inside: Inside) -> tuple[str, ...]:
    told = inside.kernel_crypto
    return told.value.parameters if isinstance(told, Known) else ()
