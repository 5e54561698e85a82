"""Where a domain would run, as far as its XML and its host tell."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath

from unmask.model.cpu import Accelerator

ACCELERATORS = {"kvm": Accelerator.KVM, "qemu": Accelerator.TCG, "": Accelerator.UNKNOWN}
"""By the domain's `type`; every other type is another hypervisor."""

CONTAINERS = frozenset({"lxc", "openvz"})

ARCHITECTURES = {
    "amd64": "x86_64",
    "armv6l": "arm",
    "armv7b": "arm",
    "armv7l": "arm",
    "i386": "i686",
    "ppc64le": "ppc64",
}
"""libvirt's and emulators' names where QEMU's differ; 32-bit x86 stays i686 here."""

X86 = ("x86_64", "i686")


@dataclass(frozen=True, slots=True)
class Place:
    """What decides how a `<cpu>` is understood, beside the element itself."""

    arch: str
    """"" where neither the XML nor the host tells."""
    accelerator: Accelerator
    live: bool = False
    """Whether the element is libvirt's own account of a running guest."""
    emulator: str = ""
    models: frozenset[str] | None = None
    """The model names of the hypervisor's domain capabilities; None where not asked."""

    @property
    def x86(self) -> bool:
        """Return whether x86 models and flags apply."""
        return self.arch in X86


def architecture(written: str, emulator: str = "", host: str = "") -> str:
    """Return QEMU's name of an architecture; "" where nothing tells.

    Args:
        written: The `arch` attribute, "" where it is absent.
        emulator: The emulator's path, whose name may end in the architecture.
        host: The host's architecture, which libvirt takes where nothing else is said.
    """
    named = PurePosixPath(emulator).name
    suffix = named.removeprefix("qemu-system-") if named.startswith("qemu-system-") else ""
    arch = written or suffix or host
    return ARCHITECTURES.get(arch, arch)


def accelerator(kind: str) -> Accelerator:
    """Return what runs a domain of this `type` attribute."""
    return ACCELERATORS.get(kind, Accelerator.OTHER)
