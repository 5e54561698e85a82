"""Which CPU model names libvirt knows: others can be defined, but do not start.

libvirt keeps a map of its own. Version 9.0 has the 58 x86 names below (`virsh cpu-models x86_64`);
11.3 has QEMU's versioned names (Haswell-v4) and newer models (Denverton, GraniteRapids) too.
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.cpu import catalogue
from unmask.dialects.excerpt import excerpt
from unmask.dialects.libvirt.place import Place
from unmask.model.cpu import Remark, RemarkKind

LIBVIRT_9_0 = frozenset(
    """
    486 Broadwell Broadwell-IBRS Broadwell-noTSX Broadwell-noTSX-IBRS Cascadelake-Server
    Cascadelake-Server-noTSX Conroe Cooperlake Dhyana EPYC EPYC-IBPB EPYC-Milan EPYC-Rome
    Haswell Haswell-IBRS Haswell-noTSX Haswell-noTSX-IBRS Icelake-Client Icelake-Client-noTSX
    Icelake-Server Icelake-Server-noTSX IvyBridge IvyBridge-IBRS Nehalem Nehalem-IBRS
    Opteron_G1 Opteron_G2 Opteron_G3 Opteron_G4 Opteron_G5 Penryn SandyBridge SandyBridge-IBRS
    Skylake-Client Skylake-Client-IBRS Skylake-Client-noTSX-IBRS Skylake-Server
    Skylake-Server-IBRS Skylake-Server-noTSX-IBRS Snowridge Westmere Westmere-IBRS athlon
    core2duo coreduo cpu64-rhel5 cpu64-rhel6 kvm32 kvm64 n270 pentium pentium2 pentium3
    pentiumpro phenom qemu32 qemu64
    """.split()  # noqa: SIM905 - names to read, not quotes
)
"""`virsh cpu-models x86_64` of 9.0.0."""
NEVER = frozenset({"base", "host", "max"})
"""QEMU's names that libvirt has as modes or not at all."""


def remarks(model: str, place: Place) -> Iterator[Remark]:
    """Yield what is to be said of the name of a custom model."""
    if not place.x86:
        return
    known = catalogue.find(model) is not None and model not in NEVER
    name = excerpt(model)
    if not place.live:
        refusal = _refusal(model, place.models)
        if refusal:
            yield Remark(RemarkKind.NO_START, f"{refusal}: the guest does not start.")
            return
        if known and place.models is None and model not in LIBVIRT_9_0:
            text = f"libvirt 9.0 does not know the CPU model {name} and 11.3 does: start unknown."
            yield Remark(RemarkKind.NOTE, text)
    if not known:
        text = f"The CPU model {name} is not known to unmask: what it shows is unknown."
        yield Remark(RemarkKind.UNRESOLVED, text)


def _refusal(model: str, offered: frozenset[str] | None) -> str:
    """Return why libvirt surely refuses the name at start, else ""."""
    name = excerpt(model)
    if offered is not None and model in offered:
        return ""
    if catalogue.proxmox_model(model) is not None:
        return f"{name} is a CPU model of Proxmox VE, which libvirt does not know"
    if model in NEVER:
        return f"{name} is QEMU's own name, which libvirt does not know as a model"
    if offered and model not in LIBVIRT_9_0:
        return f"libvirt on this host does not know the CPU model {name}"
    return ""
