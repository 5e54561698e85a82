"""A guest of which nothing but the guest itself was seen: what it tells of what runs it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

from unmask.cpu import shown_name
from unmask.model.cpu import Accelerator, CpuSpec, HostCpu, Mode, Origin, Remark, RemarkKind
from unmask.model.inside import Inside, Virtualisation
from unmask.model.inventory import Guest, GuestKind, GuestState, Platform
from unmask.model.reading import Known, Reading
from unmask.model.visit import Visit

T = TypeVar("T")

ARCHITECTURES = {"amd64": "x86_64", "i386": "i686", "i586": "i686", "arm64": "aarch64"}
"""What systems call their machines (`uname -m`) where QEMU has another word."""

UNTOLD = ("", "none", "generic", "vm-other")
"""Words of systemd-detect-virt and FreeBSD's kern.vm_guest that name no hypervisor."""

MAKERS = {
    "vmware": "vmware",
    "xen": "xen",
    "microsoft": "microsoft",
    "amazon": "amazon",
    "google": "google",
    "innotek": "oracle",
    "parallels": "parallels",
    "bhyve": "bhyve",
}
"""How a firmware's maker begins (DMI sys_vendor, lower case) where a hypervisor shows itself and is
not named, as on Windows and Alpine; the words of systemd's src/basic/virt.c for them."""

HIDDEN = (
    "The guest detects QEMU without KVM, and yet its CPU has the name of silicon, which QEMU's "
    "emulation never shows: it is KVM that hides itself."
)
NEVER_EMULATED = frozenset({"avx512f", "vmx"})
"""What QEMU emulates in no release (target/i386/cpu.c, TCG_7_0_EBX_FEATURES and its like)."""
BEYOND = (
    "The guest detects QEMU without KVM, and yet its CPU shows {flags}, which QEMU's emulation "
    "never does: it is KVM that hides itself."
)
BARE = (
    "No hypervisor shows itself: it seems to be a machine of its own, which has no CPU model that "
    "anybody could change."
)
MASKED = "No hypervisor shows itself, but the CPU has a name of QEMU's: it is a guest all the same."
CONTAINER = (
    "It is a container ({word}): its kernel and CPU are those of the machine below, and what that "
    "shows cannot be changed for it alone."
)
OTHER = (
    "Its hypervisor is {word}, not QEMU: hidden flags are a setting of that one, which unmask does "
    "not know."
)


@dataclass(frozen=True, slots=True)
class Below:
    """What a guest tells of what is below it."""

    word: str
    """Its hypervisor: "kvm", "qemu", "xen" ...; "" where none is named."""
    accelerator: Accelerator
    container: str = ""
    """"lxc", "docker" ...; "" for none."""
    bare: bool = False
    """Nothing speaks for a hypervisor."""
    remarks: tuple[Remark, ...] = ()


def guest(name: str, inside: Inside, visit: Visit, location: str) -> Guest:
    """Return the guest that `inside` was read in.

    Args:
        name: What it is called: its host name.
        inside: What was read.
        visit: How that was read.
        location: The target.
    """
    cpu = _or(inside.cpu, HostCpu("", frozenset(), complete=False))
    under = below(_or(inside.virtualisation, Virtualisation()), cpu)
    system = inside.system.value if isinstance(inside.system, Known) else None
    return Guest(
        subject=name,
        ident=name,
        name=name,
        platform=Platform.UNSEEN,
        kind=GuestKind.CONTAINER if under.container else GuestKind.VM,
        host="",
        state=GuestState.RUNNING,
        arch=cpu.arch or _arch(system.machine if system else ""),
        accelerator=under.accelerator,
        configured=_spec(inside, cpu, under),
        remarks=under.remarks,
        location=location,
        visit=visit,
    )


def below(seen: Virtualisation, cpu: HostCpu) -> Below:
    """Return what is below a guest that sees this.

    The word alone can mislead: KVM can hide itself, and many systems cannot name what they detect.
    """
    word = _word(seen)
    found = _named(word, cpu) if word else _unnamed(seen, cpu)
    if not seen.container:
        return found
    notes = tuple(note for note in found.remarks if note.text != BARE)
    said = Remark(RemarkKind.NOTE, CONTAINER.format(word=seen.container))
    return replace(found, container=seen.container, remarks=(*notes, said))


def _named(word: str, cpu: HostCpu) -> Below:
    """Return what is below a guest that names its hypervisor."""
    if word == "qemu" and shown_name.is_silicon(cpu.model_name):
        return Below(word, Accelerator.KVM, remarks=(Remark(RemarkKind.NOTE, HIDDEN),))
    beyond = sorted(NEVER_EMULATED & cpu.flags)
    if word == "qemu" and beyond:
        said = BEYOND.format(flags=" and ".join(beyond))
        return Below(word, Accelerator.KVM, remarks=(Remark(RemarkKind.NOTE, said),))
    known = {"kvm": Accelerator.KVM, "qemu": Accelerator.TCG}.get(word)
    if known:
        return Below(word, known)
    # Nothing that KVM or QEMU does holds there.
    note = Remark(RemarkKind.NOTE, OTHER.format(word=word))
    return Below(word, Accelerator.OTHER, remarks=(note,))


def _unnamed(seen: Virtualisation, cpu: HostCpu) -> Below:
    """Return what is below a guest that names no hypervisor, where its CPU's name tells."""
    shown = (
        seen.hypervisor_flag or seen.vendor == "QEMU" or seen.detected in ("generic", "vm-other")
    )
    mode = shown_name.spec(cpu, Accelerator.UNKNOWN).mode
    of_qemu = mode in (Mode.MODEL, Mode.MAXIMUM)
    told = seen.detected == "none" or cpu.arch in ("x86_64", "i686")
    if not shown and not of_qemu and told:
        return Below("", Accelerator.OTHER, bare=True, remarks=(Remark(RemarkKind.NOTE, BARE),))
    accelerator = Accelerator.UNKNOWN
    if mode is Mode.MAXIMUM:
        accelerator = Accelerator.TCG
    elif seen.vendor == "QEMU" and shown_name.is_silicon(cpu.model_name):
        accelerator = Accelerator.KVM
    masked = of_qemu and not shown
    return Below("", accelerator, remarks=(Remark(RemarkKind.NOTE, MASKED),) if masked else ())


def _word(seen: Virtualisation) -> str:
    """Return the hypervisor's name, by its firmware's maker where the guest has no word for it."""
    if seen.detected not in UNTOLD:
        return seen.detected
    maker = seen.vendor.lower()
    physical = maker.startswith("microsoft") and seen.product != "Virtual Machine"
    if not seen.hypervisor_flag or physical:
        return ""
    return next((word for begin, word in MAKERS.items() if maker.startswith(begin)), "")


def _arch(machine: str) -> str:
    """Return QEMU's name of an architecture by that of the system's."""
    return ARCHITECTURES.get(machine, machine)


def _spec(inside: Inside, cpu: HostCpu, under: Below) -> CpuSpec:
    if isinstance(inside.cpu, Known):
        spec = shown_name.spec(cpu, under.accelerator)
    else:
        spec = CpuSpec("", Origin.LIVE, Mode.UNKNOWN, "not told", steps=(inside.cpu.reason,))
    if under.container and under.accelerator is Accelerator.OTHER:
        said = "a container has no CPU of its own: it shares the host's"
        return replace(spec, mode=Mode.NONE, label=cpu.model_name or "the host's", steps=(said,))
    if under.bare:
        said = "no hypervisor shows itself"
        return replace(spec, label=cpu.model_name or "not told", steps=(*spec.steps, said))
    return spec


def _or(reading: Reading[T], default: T) -> T:
    return reading.value if isinstance(reading, Known) else default
