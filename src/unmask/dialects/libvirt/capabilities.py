"""libvirt's capabilities (the physical host) and domain capabilities (what guests can be given)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unmask.cpu import features
from unmask.dialects.libvirt import cpu, cpu_map
from unmask.dialects.libvirt.cpu import VENDORS
from unmask.dialects.libvirt.place import Place, accelerator, architecture
from unmask.dialects.libvirt.xml import children, text_of
from unmask.errors import InputError
from unmask.model.cpu import HostCpu, HypervisorCpu

if TYPE_CHECKING:
    from unmask.dialects.libvirt.xml import Element

FACTS = ("family", "model", "stepping")


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What `virsh capabilities` says."""

    arch: str
    """The host's architecture; "" where it is not said."""
    cpu: HostCpu | None
    """None where the document describes no CPU model (libvirt's test driver, some ARM hosts)."""
    emulators: frozenset[str]
    """Paths of the emulators that the daemon lists; it executes no other on its own account."""


@dataclass(frozen=True, slots=True)
class DomainCapabilities:
    """What `virsh domcapabilities` says."""

    cpu: HypervisorCpu
    models: frozenset[str]
    """Every model name of mode custom; the hypervisor refuses others."""


def host(root: Element) -> Capabilities:
    """Return what a `<capabilities>` document says of the host."""
    element = root.find("host/cpu")
    arch = architecture(text_of(element, "arch"))
    paths = [item.text or "" for item in root.iterfind("guest/arch//emulator")]
    return Capabilities(
        arch=arch,
        cpu=_host_cpu(element, arch) if element is not None else None,
        emulators=frozenset(path.strip() for path in paths if path.strip()),
    )


def _host_cpu(element: Element, arch: str) -> HostCpu | None:
    """Return the physical CPU: the model that fits best by libvirt's map, plus listed features.

    The model's flags are those of libvirt's map (`cpu_map`), not of QEMU's definition: a host of
    model Westmere that lacks PCLMULQDQ is written as Westmere, too. What an old libvirt does not
    know may be there all the same, so the list does not claim to be complete.
    """
    model = text_of(element, "model")
    names = [feature.get("name", "") for feature in element.iterfind("feature")]
    if not model and not names:
        return None
    x86 = Place(arch, accelerator("")).x86
    listed = (features.flags_of(name) for name in names) if x86 else ({name} for name in names)
    by_map = cpu_map.flags(model) if x86 else None
    microcode = element.find("microcode")
    vendor = text_of(element, "vendor")
    signature = element.find("signature")
    family, number, stepping = (_number(signature, name) for name in FACTS)
    return HostCpu(
        arch=arch,
        flags=(by_map or frozenset()).union(*listed) - {"", "hypervisor"},
        vendor=VENDORS.get(vendor, vendor),
        model_name=f"like {model}" if x86 and model else model,
        family=family,
        model=number,
        stepping=stepping,
        microcode=microcode.get("version", "") if microcode is not None else "",
        complete=False,
    )


def _number(element: Element | None, name: str) -> int | None:
    text = element.get(name, "") if element is not None else ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def domain(root: Element) -> DomainCapabilities:
    """Return what a `<domainCapabilities>` document offers guests.

    Raises:
        InputError: It does not say for which architecture or type of domain.
    """
    arch = architecture(text_of(root, "arch"))
    kind = text_of(root, "domain")
    if not arch or not kind:
        raise InputError("the domain capabilities name no architecture or no type of domain")
    place = Place(arch, accelerator(kind), live=True, emulator=text_of(root, "path"))
    modes = {mode.get("name"): mode for mode in children(root, "cpu/mode")}
    expansion = modes.get("host-model")
    passthrough = modes.get("host-passthrough")
    custom = modes.get("custom")
    models = {(item.text or "").strip(): item.get("usable") for item in children(custom, "model")}
    return DomainCapabilities(
        cpu=HypervisorCpu(
            arch=arch,
            accelerator=place.accelerator,
            emulator=place.emulator,
            machine=text_of(root, "machine"),
            host_model=cpu.host_model(expansion, place) if expansion is not None else None,
            host_passthrough=passthrough is not None and passthrough.get("supported") == "yes",
            usable=tuple(
                (name, usable == "yes")
                for name, usable in sorted(models.items())
                if usable in ("yes", "no")
            ),
        ),
        models=frozenset(models),
    )
