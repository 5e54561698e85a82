"""libvirt's domain XML: what a guest is, and the CPU that it asks for or runs with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from unmask.dialects import declared, qemu
from unmask.dialects.declared import NOTHING, Declared
from unmask.dialects.excerpt import excerpt
from unmask.dialects.libvirt import cpu, request, ties
from unmask.dialects.libvirt.place import CONTAINERS, Place, accelerator, architecture
from unmask.dialects.libvirt.request import Request
from unmask.dialects.libvirt.xml import children, text_of
from unmask.model.cpu import Accelerator, CpuSpec, Mode, Origin, Remark, RemarkKind
from unmask.model.reading import Known, Reading
from unmask.model.tie import UNREAD_TIES, Tie

if TYPE_CHECKING:
    from unmask.dialects.libvirt.xml import Element

QEMU = "{http://libvirt.org/schemas/domain/qemu/1.0}"
OWN = "{urn:unmask}"
"""Of what `virsh metadata NAME --uri urn:unmask --key unmask --set ...` writes for us."""
LIBOSINFO = "{http://libosinfo.org/xmlns/libvirt/domain/1.0}"


@dataclass(frozen=True, slots=True)
class Domain:
    """One domain XML, read."""

    name: str
    """"" where the XML has none."""
    uuid: str
    kind: str
    """The `type` attribute: kvm, qemu, xen, lxc, test ...; "" where there is none."""
    arch: str
    machine: str
    emulator: str
    live: bool
    """Whether the XML is that of a running domain (it has an `id`)."""
    accelerator: Accelerator
    cpu: CpuSpec
    request: Request
    os_declared: str = ""
    """The libosinfo id of the metadata: "http://microsoft.com/win/10"."""
    remarks: tuple[Remark, ...] = ()
    declared: Declared = NOTHING
    """What its title, description and metadata say of its workloads."""
    ties: Reading[tuple[Tie, ...]] = UNREAD_TIES
    """What holds it on its host."""

    @property
    def container(self) -> bool:
        """Return whether it is a container, which has no CPU of its own."""
        return self.kind in CONTAINERS


def read(root: Element, host_arch: str = "", models: frozenset[str] | None = None) -> Domain:
    """Return what a `<domain>` says.

    Args:
        root: The element; everything that is missing in it is said in remarks.
        host_arch: The host's architecture, taken where the XML names none.
        models: Model names that the host's libvirt knows, where its capabilities were asked.
    """
    kind = root.get("type", "")
    os_type = root.find("os/type")
    emulator = text_of(root, "devices/emulator")
    written = os_type.get("arch", "") if os_type is not None else ""
    live = root.get("id") is not None
    raw = qemu.cpu_option(_arguments(root)) or ""
    place = Place(
        arch=architecture(written, emulator, host_arch),
        accelerator=accelerator(kind),
        live=live,
        emulator=emulator,
        models=models,
    )
    return Domain(
        name=text_of(root, "name"),
        uuid=text_of(root, "uuid"),
        kind=kind,
        arch=place.arch,
        machine=os_type.get("machine", "") if os_type is not None else "",
        emulator=emulator,
        live=live,
        accelerator=place.accelerator,
        cpu=_cpu(root, place, kind),
        request=request.read(root.find("cpu"), raw, x86=place.x86),
        os_declared=_os_declared(root),
        remarks=tuple(_remarks(root, kind, place.arch)),
        declared=_declared(root),
        ties=Known(ties.ties(root, _arguments(root))),
    )


def fragment(root: Element) -> Domain:
    """Return a bare `<cpu>` as a domain of which nothing else is known.

    A fragment with check='full' is what libvirt writes for a running guest; QEMU on x86_64 is
    assumed unless it names an `<arch>`.
    """
    arch = architecture(text_of(root, "arch")) or "x86_64"
    live = root.get("check") == "full"
    place = Place(arch, Accelerator.KVM, live=live)
    text = "Only the <cpu> element is known of this guest: KVM on x86_64 is assumed."
    return Domain(
        name="",
        uuid="",
        kind="kvm",
        arch=arch,
        machine="",
        emulator="",
        live=live,
        accelerator=Accelerator.KVM,
        cpu=cpu.spec(root, place),
        request=request.read(root, "", x86=place.x86),
        remarks=(Remark(RemarkKind.NOTE, text),),
    )


def _cpu(root: Element, place: Place, kind: str) -> CpuSpec:
    if kind in CONTAINERS:
        step = f"a domain of type '{kind}' is a container"
        return CpuSpec("", Origin.DEFAULT, Mode.NONE, "host's CPU", steps=(step,))
    found = root.findall("cpu")
    spec = cpu.spec(found[0] if found else None, place)
    if len(found) > 1:
        text = "The XML has more than one <cpu>: libvirt keeps the first and drops the others."
        spec = _with(spec, Remark(RemarkKind.IGNORED, text))
    return _overridden(spec, _arguments(root), place)


def _arguments(root: Element) -> list[str]:
    """Return the values of `<qemu:commandline>`."""
    found = children(root, f"{QEMU}commandline/{QEMU}arg")
    return [argument.get("value", "") for argument in found]


def _overridden(spec: CpuSpec, arguments: list[str], place: Place) -> CpuSpec:
    """libvirt appends these arguments to its own: QEMU takes the last `-cpu`.

    The feature list of a running custom domain is read back from QEMU, so it stays true.
    """
    refused = "" if place.live else qemu.refused_option(arguments)
    if refused:
        text = f"QEMU does not accept {excerpt(refused)} in <qemu:commandline>: no start."
        spec = _with(spec, Remark(RemarkKind.NO_START, text))
    raw = qemu.cpu_option(arguments)
    if not raw:
        return spec
    said = excerpt(raw, 300)
    text = f"<qemu:commandline> gives QEMU its own -cpu, which replaces {spec.label}: {said}"
    remark = Remark(RemarkKind.OVERRIDDEN, text)
    chosen = qemu.spec_of(raw, Origin.ARGS, arch=place.arch or "x86_64")
    if place.live and spec.mode is Mode.MODEL:
        return _with(replace(spec, label=chosen.label), remark)
    origin = Origin.LIVE if place.live else Origin.ARGS
    kept = () if place.live else spec.remarked(RemarkKind.NO_START)  # libvirt checks its own first
    return _with(replace(chosen, origin=origin, remarks=chosen.remarks + kept), remark)


def _with(spec: CpuSpec, remark: Remark) -> CpuSpec:
    return replace(spec, remarks=(*spec.remarks, remark))


def _os_declared(root: Element) -> str:
    system = root.find(f"metadata/{LIBOSINFO}libosinfo/{LIBOSINFO}os")
    return system.get("id", "")[:256] if system is not None else ""


def _declared(root: Element) -> Declared:
    """Return what is declared: lines of the title and description, and `<unmask:workloads>`."""
    found = NOTHING
    for name in ("title", "description"):
        found += declared.of_notes(text_of(root, name), f"its {name}")
    return found + declared.parse(text_of(root, f"metadata/{OWN}workloads"), "its metadata")


def _remarks(root: Element, kind: str, arch: str) -> list[Remark]:
    missing = [
        word
        for word, absent in (
            ("a type", not kind),
            ("a name", not text_of(root, "name")),
            ("an architecture", not arch),
        )
        if absent
    ]
    found = []
    if missing:
        text = f"The XML is incomplete: it lacks {' and '.join(missing)}."
        found.append(Remark(RemarkKind.UNRESOLVED, text))
    security = root.find("launchSecurity")
    if security is not None:
        how = excerpt(security.get("type", ""))
        text = (
            f"Launch security '{how}' ties the guest to its host: live migration is not possible, "
            "whatever its CPU."
        )
        found.append(Remark(RemarkKind.NOTE, text))
    return found
