"""From libvirt's `<cpu>` to a `CpuSpec`.

What libvirt does with each form was observed with libvirt 9.0 and QEMU 7.2: what it accepts, what
it writes instead, the `-cpu` it starts QEMU with, and what the guest then printed. The defaults of
`check` are those of qemuDomainDefCPUPostParse (src/qemu/qemu_domain.c).
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from unmask.cpu import catalogue
from unmask.dialects.excerpt import excerpt
from unmask.dialects.libvirt import cpu_map, model_names, policies
from unmask.dialects.libvirt.place import Place
from unmask.dialects.libvirt.policies import Policies
from unmask.dialects.libvirt.xml import text_of, written
from unmask.model.cpu import Accelerator, CpuSpec, Mode, Origin, Remark, RemarkKind

if TYPE_CHECKING:
    from unmask.dialects.libvirt.xml import Element

MODES = {
    "custom": Mode.MODEL,
    "host-model": Mode.HOST_MODEL,
    "host-passthrough": Mode.HOST,
    "maximum": Mode.MAXIMUM,
}
MATCHES = ("exact", "minimum", "strict")
CHECKS = ("none", "partial", "full")
FALLBACKS = ("allow", "forbid")
VENDORS = {"AMD": "AuthenticAMD", "Hygon": "HygonGenuine", "Intel": "GenuineIntel"}
"""libvirt's names of x86 vendors (src/cpu_map/x86_vendors.xml) to CPUID's; others as they are."""

DEFAULTS = {"qemu-system-i386": "qemu32", "qemu-system-x86_64": "qemu64"}
"""QEMU's own default model, which libvirt writes into a domain that names none, by binary."""


def spec(cpu: Element | None, place: Place) -> CpuSpec:
    """Return what a domain's `<cpu>` asks for; None means that the domain has none."""
    if cpu is None:
        return _default(None, place)
    mode = cpu.get("mode", "custom")
    if mode not in MODES:
        text = f"libvirt does not accept the CPU mode '{excerpt(mode)}'."
        remarks = (Remark(RemarkKind.NO_START, text),)
        return CpuSpec(written(cpu), _origin(place), Mode.UNKNOWN, excerpt(mode), remarks=remarks)
    if mode == "custom":
        return _custom(cpu, place)
    return _by_host(cpu, mode, place)


def _origin(place: Place) -> Origin:
    return Origin.LIVE if place.live else Origin.CONFIG


def _default(cpu: Element | None, place: Place) -> CpuSpec:
    """libvirt writes QEMU's default model and check='none' into a domain without a model."""
    emulator = PurePosixPath(place.emulator).name
    model = DEFAULTS.get(emulator, "qemu64" if place.arch == "x86_64" else "")
    by_qemu = place.accelerator in (Accelerator.KVM, Accelerator.TCG)
    if place.x86 and by_qemu and model:
        step = f"no CPU model is configured: libvirt gives the guest {model}, with check='none'"
        return CpuSpec(
            written=written(cpu),
            origin=Origin.DEFAULT,
            mode=Mode.MODEL,
            label=model,
            model=model,
            properties=(("check", "none"),),
            steps=(step,),
        )
    remark = Remark(RemarkKind.UNRESOLVED, _no_default(place, by_qemu=by_qemu))
    return CpuSpec(written(cpu), Origin.DEFAULT, Mode.UNKNOWN, "default", remarks=(remark,))


def _no_default(place: Place, *, by_qemu: bool) -> str:
    if not by_qemu and place.accelerator is not Accelerator.UNKNOWN:
        return "The XML names no CPU model, and unmask does not know this hypervisor's default."
    if not place.arch:
        return (
            "The XML names neither a CPU model nor an architecture: on x86_64 libvirt would give "
            "the guest qemu64, elsewhere another model."
        )
    return f"The XML names no CPU model, and unmask does not know the default for {place.arch}."


def _custom(cpu: Element, place: Place) -> CpuSpec:
    model = text_of(cpu, "model")
    asked = policies.read(cpu, x86=place.x86, live=place.live)
    if not model:
        return _default(cpu, place) if asked.empty else _features_only(cpu, asked, place)
    check = cpu.get("check") or ("partial" if place.accelerator is Accelerator.KVM else "none")
    exact = place.live or check == "full"
    known = not place.x86 or catalogue.find(model) is not None
    on, off = asked.on, asked.off | (cpu_map.removed(model) - asked.on if place.x86 else set())
    if exact and place.x86:
        on, off = cpu_map.as_changes(model, asked.on, asked.off, place.accelerator)
    return CpuSpec(
        written=written(cpu),
        origin=_origin(place),
        mode=Mode.MODEL if known else Mode.UNKNOWN,
        label=excerpt(model),
        model=model if known else "",
        on=on,
        off=off,
        optional=asked.optional,
        enforced=check != "none" and not place.live,
        exact=exact,
        properties=_properties(cpu, check, () if place.live else asked.forbidden),
        remarks=asked.remarks + _custom_remarks(cpu, model, asked, place, check),
        steps=(_step(cpu, model, place, check),),
    )


def _features_only(cpu: Element, asked: Policies, place: Place) -> CpuSpec:
    text = "The CPU lists features without a model, which libvirt does not accept."
    remarks = (*asked.remarks, Remark(RemarkKind.NO_START, text))
    return CpuSpec(
        written(cpu), _origin(place), Mode.UNKNOWN, "custom", on=asked.on, off=asked.off,
        remarks=remarks,
    )  # fmt: skip


def _step(cpu: Element, model: str, place: Place, check: str) -> str:
    if place.live:
        return f"libvirt's live XML says that the guest runs with {model} and the listed changes"
    form = "" if cpu.get("mode") else " (the old form without a mode)"
    return f"the XML asks for the model {model}{form}, check='{excerpt(check)}'"


def _properties(
    cpu: Element, check: str, forbidden: Collection[str] = ()
) -> tuple[tuple[str, str], ...]:
    model = cpu.find("model")
    vendor = text_of(cpu, "vendor")
    found = {
        "check": check,
        "forbid": " ".join(sorted(forbidden)),
        "match": cpu.get("match", "exact"),
        "migratable": cpu.get("migratable", ""),
        "required-vendor": VENDORS.get(vendor, vendor),
        "vendor": model.get("vendor_id", "") if model is not None else "",
    }
    ordinary = {("match", "exact")}
    return tuple(item for item in sorted(found.items()) if item[1] and item not in ordinary)


def _custom_remarks(
    cpu: Element, model: str, asked: Policies, place: Place, check: str
) -> tuple[Remark, ...]:
    found = list(model_names.remarks(model, place))
    if place.live:
        return tuple(found)
    found += _bad_words(cpu)
    match = cpu.get("match", "exact")
    if match == "minimum":
        text = f"match='minimum': libvirt gives the guest all of its host-model, not just {model}."
        found.append(Remark(RemarkKind.NOTE, text))
    if match == "strict" and check != "none":
        text = f"match='strict': the guest starts only where the host offers no more than {model}."
        found.append(Remark(RemarkKind.NOTE, text))
    if asked.forbidden and check != "none":
        names = ", ".join(sorted(asked.forbidden))
        text = f"The policy 'forbid' lets the guest start only on a host without {names}."
        found.append(Remark(RemarkKind.NOTE, text))
    found += _stricter_than_qemu(model, asked, place, check)
    return tuple(found)


def _bad_words(cpu: Element) -> list[Remark]:
    model = cpu.find("model")
    fallback = model.get("fallback") if model is not None else None
    words = (
        ("match", cpu.get("match"), MATCHES),
        ("check", cpu.get("check"), CHECKS),
        ("fallback", fallback, FALLBACKS),
    )
    texts = [
        f"libvirt does not accept {name}='{excerpt(value)}' in a CPU."
        for name, value, allowed in words
        if value is not None and value not in allowed
    ]
    return [Remark(RemarkKind.NO_START, text) for text in texts]


def _stricter_than_qemu(model: str, asked: Policies, place: Place, check: str) -> list[Remark]:
    """libvirt's map counts flags to a model that KVM does not give with it, and checks them."""
    demanded = cpu_map.demanded(model) - asked.off
    if not (place.x86 and demanded) or check != "partial":
        return []
    names = " ".join(sorted(demanded))
    text = (
        f"libvirt's CPU map counts {names} to {model}: with check='partial' some versions refuse "
        "to start the guest on a host without it; check='none' lifts that."
    )
    return [Remark(RemarkKind.NOTE, text)]


def _by_host(cpu: Element, mode: str, place: Place) -> CpuSpec:
    """host-model, host-passthrough and maximum: what the guest gets depends on the host."""
    asked = policies.read(cpu, x86=place.x86, live=place.live)
    check = cpu.get("check") or ("partial" if mode == "host-model" else "none")
    remarks = list(asked.remarks)
    if mode == "host-passthrough" and place.accelerator is Accelerator.TCG:
        text = "host-passthrough needs KVM: an emulated domain (type='qemu') does not start."
        remarks.append(Remark(RemarkKind.NO_START, text))
    if mode == "host-model" and (child := text_of(cpu, "model")):
        text = f"The model {excerpt(child)} inside host-model is unusual: it may decide at start."
        remarks.append(Remark(RemarkKind.NOTE, text))
    if not place.live:
        remarks += _bad_words(cpu)
    return CpuSpec(
        written=written(cpu),
        origin=_origin(place),
        mode=MODES[mode],
        label=mode,
        on=asked.on,
        off=asked.off,
        optional=asked.optional,
        enforced=check != "none" and not place.live,
        properties=_properties(cpu, check, () if place.live else asked.forbidden),
        remarks=tuple(remarks),
        steps=(f"the XML asks for mode {mode}, check='{excerpt(check)}'",),
    )


def host_model(mode: Element, place: Place) -> CpuSpec | None:
    """Return the expansion of host-model in domain capabilities; None where there is none.

    The list is complete: a flag that is neither in libvirt's model nor listed is not given.
    """
    model = text_of(mode, "model")
    if mode.get("supported") != "yes" or not model:
        return None
    asked = policies.read(mode, x86=place.x86, live=True)
    on, off = asked.on, asked.off
    if place.x86 and catalogue.find(model):
        on, off = cpu_map.as_changes(model, asked.on, asked.off, place.accelerator)
    return CpuSpec(
        written=written(mode),
        origin=Origin.CONFIG,
        mode=Mode.MODEL,
        label=model,
        model=model,
        on=on,
        off=off,
        exact=True,
        properties=_properties(mode, ""),
        remarks=tuple(model_names.remarks(model, place)),
        steps=(f"libvirt's domain capabilities expand host-model to {model} and listed changes",),
    )
