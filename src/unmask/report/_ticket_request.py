"""What to ask of whoever runs a guest's hypervisor: the flags, and where they are set."""

from __future__ import annotations

from collections.abc import Iterator

from unmask.cpu import catalogue, shown_name
from unmask.cpu.features import qemu_name
from unmask.model.case import GuestCase
from unmask.model.cpu import Accelerator, FeatureView
from unmask.model.inside import Virtualisation
from unmask.report import _ticket_facts

X86 = ("aes", "pclmulqdq")
ARM = ("aes", "pmull")
"""What encryption asks for first on each architecture."""

MEANING = {
    "aes": "AES itself: disks, TLS, VPNs",
    "pclmulqdq": "AES-GCM's check sums: TLS, ZFS, VPNs, backups",
    "pmull": "AES-GCM's check sums: TLS, ZFS, VPNs, backups",
    "ssse3": "ChaCha20, and AES where the two above are hidden",
    "sse4_1": "FreeBSD's AES driver",
    "avx": "the fast paths of AES-GCM in OpenZFS and OpenSSL",
    "avx2": "ChaCha20 (WireGuard)",
}
LADDER = {
    "GenuineIntel": ("Westmere", "SandyBridge", "Haswell-noTSX", "Skylake-Server-noTSX-IBRS"),
    "AuthenticAMD": ("Opteron_G4", "EPYC", "EPYC-Rome"),
}
"""QEMU's models by age; the first that shows what is wanted is the least to ask for."""

SINCE = (
    "Intel's processors have had aes and pclmulqdq since Westmere, AMD's since the Opteron 6200."
)
"""As QEMU's models of them have (Westmere, Opteron_G4)."""

OF_QEMU = (
    ("Proxmox VE", "qm set VMID --cpu host{model}"),
    ("libvirt", "<cpu mode='host-model'/> (or mode='host-passthrough')"),
    ("QEMU", "-cpu host"),
    ("OpenStack", "cpu_mode = host-model under [libvirt] in nova.conf{flags}"),
    ("CloudStack", "guest.cpu.mode=host-model in agent.properties"),
    ("others", "CPU mode or CPU model: host-passthrough or host-model"),
)
"""Where QEMU's CPU is set. OpenStack: Nova's "CPU models"; CloudStack: its KVM agent's settings."""
ELSEWHERE = {
    "vmware": ("VMware", "EVC mode, CPUID masks, the virtual hardware version"),
    "microsoft": ("Hyper-V", "the processor compatibility that is meant for migration"),
    "xen": ("Xen", "the CPUID policy of the domain or pool"),
}
"""The same for other hypervisors, by systemd-detect-virt's word."""


def wanted(view: FeatureView) -> tuple[str, ...]:
    """Return what every guest with encryption wants of its CPU; () where no flag matters."""
    if view.x86:
        return X86
    return ARM if view.arch in ("aarch64", "arm", "armv7l") else ()


def missing(case: GuestCase, view: FeatureView) -> tuple[str, ...]:
    """Return the flags that are surely hidden and wanted: by any guest, then by its workloads."""
    hidden = [flag for flag in wanted(view) if view.hides(flag)]
    lacking = [flag for item in case.workloads if item.outlook for flag in item.outlook.missing]
    return tuple(dict.fromkeys([*hidden, *(flag for flag in lacking if view.hides(flag))]))


def sentences(case: GuestCase, view: FeatureView, flags: tuple[str, ...]) -> Iterator[str]:
    """Yield what is asked for, a paragraph each."""
    if view.accelerator is Accelerator.TCG:
        yield (
            "Please run this machine with hardware virtualisation (KVM). It seems to be emulated, "
            "so that no instruction of it reaches the processor and no CPU model makes encryption "
            "fast."
        )
        return
    if not flags:
        return
    names = ", ".join(flags)
    if _container(case):
        yield f"Please let the machine that my container runs on see {names}."
    elif view.accelerator is Accelerator.OTHER:
        yield f"Please let my machine see {names}."
    else:
        yield f"Please give my machine a CPU type that shows {names}: host{_or_named(view, flags)}."
    yield (
        "It takes effect after a shutdown and start through your panel; a restart from inside is "
        "not enough. If this product cannot have it, please tell me which one does."
    )


def _or_named(view: FeatureView, flags: tuple[str, ...]) -> str:
    """Return ", or Westmere or a later named model of Intel's"; "" off x86."""
    if not view.x86:
        return ""
    vendors = [view.vendor] if view.vendor in LADDER else list(LADDER)
    found = [(name, vendor) for vendor in vendors if (name := _least(vendor, flags))]
    makers = {"GenuineIntel": "Intel", "AuthenticAMD": "AMD"}
    named = " or ".join(f"{name} ({makers[vendor]})" for name, vendor in found)
    them = "it" if len(flags) == 1 else "them"
    return f", or a named model that has {them}: at least {named}" if named else ""


def _least(vendor: str, flags: tuple[str, ...]) -> str:
    for name in LADDER[vendor]:
        model = catalogue.find(name)
        if model and set(flags) <= model.flags:
            return name
    return ""


def settings(case: GuestCase, view: FeatureView, flags: tuple[str, ...]) -> list[tuple[str, str]]:
    """Return platform and setting; of another hypervisor than QEMU only its own, if it is known."""
    if not flags or _container(case) or view.accelerator is Accelerator.TCG:
        return []
    if view.accelerator is Accelerator.OTHER:
        virtual = _virtual(case)
        row = ELSEWHERE.get(virtual.detected) if virtual else None
        return [row] if row else []
    model = extra = ""
    if view.x86:
        model = " (or one of the models above)"
        listed = ",".join(map(qemu_name, flags))
        extra = f" (or custom with cpu_model_extra_flags = {listed})"
    return [(platform, text.format(model=model, flags=extra)) for platform, text in OF_QEMU]


def certain(view: FeatureView, flags: tuple[str, ...], name: str) -> str:
    """Return why it is sure that the processor below has what is missing; "" where it is not.

    `name` is the one that the CPU shows.
    """
    if not view.x86 or not set(flags) <= set(X86) or not flags:
        return ""
    if view.shows("aes"):
        return "No x86 processor has aes without pclmulqdq: something hides it."
    return f"Every {name} has aes and pclmulqdq." if shown_name.surely_has_aes(name) else ""


def doubts(view: FeatureView, flags: tuple[str, ...], name: str) -> Iterator[str]:
    """Yield what a guest cannot see, a sentence each."""
    if view.accelerator is Accelerator.TCG:
        yield "Whether it is emulated: KVM that hides itself from its guests can look the same."
    if flags and not certain(view, flags, name):
        yield (
            "Whether the processor below has what is missing: a guest sees only what it is shown."
            + (f" {SINCE}" if set(flags) & {"aes", "pclmulqdq"} and view.x86 else "")
        )
    yield "The model is told by the name that the CPU shows, and a platform may choose any name."


def bare(case: GuestCase, view: FeatureView) -> bool:
    """Return whether no hypervisor shows itself that could hide anything."""
    virtual = _virtual(case)
    named = virtual is None or virtual.hypervisor_flag or virtual.detected not in ("", "none")
    return view.accelerator is Accelerator.OTHER and not named and not _container(case)


def _container(case: GuestCase) -> bool:
    virtual = _virtual(case)
    return virtual is not None and bool(virtual.container)


def _virtual(case: GuestCase) -> Virtualisation | None:
    seen = _ticket_facts.inside(case)
    return _ticket_facts.known(seen.virtualisation) if seen else None
