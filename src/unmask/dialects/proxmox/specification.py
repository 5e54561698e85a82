"""From the options of a guest's configuration to its CPU specification.

The `-cpu` string that Proxmox would generate is made and then read as QEMU reads it, so that there
is one path from configuration to flags.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from unmask.cpu import catalogue
from unmask.dialects import qemu
from unmask.dialects.excerpt import excerpt
from unmask.dialects.proxmox import command, cpu_option
from unmask.dialects.proxmox.command import Setting
from unmask.dialects.proxmox.conf import Dropped, Section, without_comment
from unmask.dialects.proxmox.cpu_option import CpuOption
from unmask.dialects.proxmox.release import NEWEST
from unmask.dialects.proxmox.surroundings import Surroundings
from unmask.errors import InputError
from unmask.model.cpu import Accelerator, CpuSpec, Mode, Origin, Remark, RemarkKind

NESTED = frozenset({"svm", "vmx"})
"""What `nested-virt` stands for, by the vendor of the host's CPU."""

REPLACED = (RemarkKind.DEPRECATED, RemarkKind.NOTE, RemarkKind.UNRESOLVED)
"""Remarks on a configured model that mean nothing once `args:` has replaced it."""

UNDEFINED = "Custom cputype"
"""How Proxmox's complaint about a custom model that does not exist begins."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a configuration lies, and what is known there."""

    cluster: str
    node: str
    host_arch: str = ""
    """"" where the host is not known: taken as x86_64."""
    host_flags: frozenset[str] | None = None
    models: Mapping[str, CpuOption] | None = field(default_factory=dict)
    """The cluster's custom models; None where their file was not there to be read."""
    version: str = NEWEST
    around: Surroundings = field(default_factory=Surroundings)


def architecture(values: Mapping[str, str], place: Place) -> str:
    """Return the guest's architecture in QEMU's words."""
    return without_comment(values.get("arch", "")) or place.host_arch or "x86_64"


def accelerator(values: Mapping[str, str], place: Place) -> Accelerator:
    """Return what runs the guest: KVM, unless something configured or its architecture stops it.

    Proxmox names no accelerator for KVM: its `kvm` is QEMU's name for "KVM, else TCG". So one that
    `args:` names counts.
    """
    on = _kvm(values, place) and _chosen_in_arguments(values) != "tcg"
    return Accelerator.KVM if on else Accelerator.TCG


def _kvm(values: Mapping[str, str], place: Place) -> bool:
    """Return whether Proxmox starts QEMU for KVM; it does not look into `args:`."""
    native = architecture(values, place) == (place.host_arch or "x86_64")
    return native and values.get("kvm", "1") == "1"


def _chosen_in_arguments(values: Mapping[str, str]) -> str:
    """Return the accelerator that `args:` names, "" where it names none."""
    return qemu.accelerator_option(qemu.argument_list(values.get("args", "")))


def setting_of(values: Mapping[str, str], place: Place) -> Setting:
    """Return what beside `cpu:` decides the command line."""
    return Setting(
        kvm=_kvm(values, place),
        arch=architecture(values, place),
        ostype=without_comment(values.get("ostype", "")),
        bios=without_comment(values.get("bios", "")),
        machine=values.get("machine", ""),
        graphics=any(
            key.startswith("hostpci") and ("x-vga=1" in value or "x-vga=on" in value)
            for key, value in values.items()
        ),
        host_flags=place.host_flags,
        version=place.version,
    )


def specify(section: Section, place: Place) -> CpuSpec:
    """Return the CPU of a guest with these options, `args:` included."""
    setting = setting_of(section.values, place)
    own = _own(section, place, setting)
    own = replace(own, steps=_emulation(section.values, place) + own.steps)
    spec = _overridden(own, section.values.get("args", ""), setting)
    if setting.kvm and _chosen_in_arguments(section.values) == "tcg":
        spec = replace(spec, properties=tuple(sorted((*spec.properties, ("accel", "tcg")))))
    return _startable(spec, accelerator(section.values, place))


def of_model(name: str, place: Place) -> CpuSpec:
    """Return the CPU of a custom model, as a guest with nothing else has it.

    A name that no `cpu:` could spell, with a comma for instance, is unknown: no guest can have it.
    """
    written = cpu_option.CUSTOM + name
    try:
        if cpu_option.split(written) == {"cputype": written}:
            return specify(Section({"cpu": written}), place)
    except InputError:
        pass
    said = f"No guest can have the custom model {excerpt(name)}: Proxmox cannot read its name."
    remark = Remark(RemarkKind.UNRESOLVED, said)
    return CpuSpec("", Origin.CUSTOM, Mode.UNKNOWN, excerpt(written), remarks=(remark,))


def _own(section: Section, place: Place, setting: Setting) -> CpuSpec:
    """Return the CPU that `cpu:` or its absence leads to."""
    written = section.values.get("cpu", "")
    remarks = _about_dropped(section, command.default_model(setting))
    if not written:
        return replace(
            _generated(None, place, setting, Origin.DEFAULT),
            written=_meant(section.dropped),
            remarks=remarks,
        )
    option = cpu_option.parse(written, place.models, place.version)
    if option.custom and place.models is None:
        spec = _undefined(option)
    else:
        origin = Origin.CUSTOM if option.custom else Origin.CONFIG
        spec = _generated(option, place, setting, origin)
    return replace(spec, written=written, remarks=spec.remarks + remarks)


def _meant(dropped: tuple[Dropped, ...]) -> str:
    """Return what the operator wanted as CPU, where Proxmox drops it: without its comment."""
    lines = [line.value for line in dropped if line.key == "cpu"]
    return excerpt(without_comment(lines[-1]), 200) if lines else ""


def _about_dropped(section: Section, default: str) -> tuple[Remark, ...]:
    """Say what became of `cpu` lines that Proxmox drops."""
    remarks = []
    for line in section.dropped:
        if line.key != "cpu":
            continue
        reason = excerpt(" ".join(line.reason.split()), 240)
        kind, end = RemarkKind.IGNORED, "the other cpu line stays in force"
        if "cpu" not in section.values:
            missing = line.reason.startswith(UNDEFINED)
            kind = RemarkKind.CUSTOM_MISSING if missing else RemarkKind.CPU_DROPPED
            end = f"the default, {default}, takes its place"
        said = f"Proxmox drops line {line.line}, cpu: {excerpt(line.value)} ({reason}): {end}."
        remarks.append(Remark(kind, said))
    return tuple(remarks)


def _undefined(option: CpuOption) -> CpuSpec:
    """Return the specification of a custom model whose file was not there to be read."""
    said = (
        f"The custom model {excerpt(option.custom)!r} is not defined here:"
        " virtual-guest/cpu-models.conf was not there to be read. Its flags are unknown;"
        " where the cluster has no such model, Proxmox drops the line and takes its default."
    )
    return CpuSpec(
        written="",
        origin=Origin.CUSTOM,
        mode=Mode.UNKNOWN,
        label=option.cputype,
        remarks=(Remark(RemarkKind.UNRESOLVED, said),),
    )


def _generated(option: CpuOption | None, place: Place, setting: Setting, origin: Origin) -> CpuSpec:
    label = option.cputype if option else command.default_model(setting)
    try:
        text = command.cpu_argument(option, place.models or {}, setting)
    except InputError as error:
        said = f"Proxmox does not start this guest: {error}."
        remark = Remark(RemarkKind.NO_START, said)
        return CpuSpec("", origin, Mode.UNKNOWN, label, remarks=(remark,))
    spec = qemu.spec_of(text, origin, label, setting.arch)
    step = _step(option, text, place)
    return _nested(_noted(replace(spec, steps=(step,)), option), option, place, setting)


def _step(option: CpuOption | None, text: str, place: Place) -> str:
    if option is None:
        return f"no valid cpu is configured: Proxmox starts QEMU with -cpu {text}"
    if option.custom:
        model = (place.models or {})[option.custom]
        return (
            f"the custom model {option.custom} is built on {model.reported_model}:"
            f" Proxmox starts QEMU with -cpu {text}"
        )
    if catalogue.proxmox_model(option.cputype):
        return f"{option.cputype} is Proxmox's own: it starts QEMU with -cpu {text}"
    return f"Proxmox starts QEMU with -cpu {text}"


def _noted(spec: CpuSpec, option: CpuOption | None) -> CpuSpec:
    """Add what is to be said about names and flags."""
    remarks = []
    replacement = catalogue.proxmox_deprecated(option.cputype) if option else None
    if option and replacement:
        said = f"There never was a CPU {option.cputype}: Proxmox starts {replacement} instead."
        remarks.append(Remark(RemarkKind.DEPRECATED, said))
    if option and spec.mode is Mode.HOST and spec.on:
        words = " ".join(f"+{flag}" for flag in sorted(spec.on))
        said = f"The model host passes all that the host has: {words} adds nothing to it."
        remarks.append(Remark(RemarkKind.NOTE, said))
    return replace(spec, label=replacement or spec.label, remarks=spec.remarks + tuple(remarks))


def _nested(spec: CpuSpec, option: CpuOption | None, place: Place, setting: Setting) -> CpuSpec:
    """`nested-virt` is the host's own flag for nested guests: it depends on a host not known."""
    custom = (place.models or {}).get(option.custom) if option and option.custom else None
    flags = (custom.flags if custom else ()) + (option.flags if option else ())
    signs = [sign for sign, name in flags if name == "nested-virt"]
    if not signs or setting.host_flags is not None:
        return spec
    if signs[-1] == "-":
        return replace(spec, off=spec.off | NESTED - spec.on)
    step = "nested-virt turns on svm or vmx, whichever the host has"
    return replace(spec, optional=spec.optional | NESTED, steps=(*spec.steps, step))


def _startable(spec: CpuSpec, runs: Accelerator) -> CpuSpec:
    """Say where QEMU refuses `host` because nothing passes the host's CPU through."""
    if spec.mode is not Mode.HOST or runs is Accelerator.KVM:
        return spec
    said = "The guest is emulated, and QEMU refuses the CPU model host without KVM."
    return replace(spec, remarks=(*spec.remarks, Remark(RemarkKind.NO_START, said)))


def _emulation(values: Mapping[str, str], place: Place) -> tuple[str, ...]:
    """Say why the guest is emulated, where it is."""
    host = place.host_arch or "x86_64"
    arch = architecture(values, place)
    if arch != host:
        known = "is" if place.host_arch else "is taken to be"
        return (f"the guest is of {arch} and its host {known} of {host}: QEMU emulates it",)
    if _kvm(values, place) and accelerator(values, place) is Accelerator.TCG:
        return ("args chooses the accelerator tcg: QEMU emulates the guest",)
    if accelerator(values, place) is Accelerator.TCG:
        return ("kvm: 0 turns hardware virtualisation off: QEMU emulates the guest",)
    return ()


def _overridden(own: CpuSpec, args: str, setting: Setting) -> CpuSpec:
    """Return what `args:` makes of the guest's CPU: its last `-cpu` replaces the generated one."""
    words = qemu.argument_list(args)
    if args and not words:
        said = "args has an open quote: Proxmox starts QEMU without any of its arguments."
        return replace(own, remarks=(*own.remarks, Remark(RemarkKind.IGNORED, said)))
    text, refused = qemu.cpu_option(words), qemu.refused_option(words)
    if refused:
        said = f"QEMU refuses {excerpt(refused)!r} in args: it takes -cpu and its value apart."
        remark = Remark(RemarkKind.NO_START, said)
        own = replace(own, remarks=(*own.remarks, remark))
    if text is None:
        return own
    whence = "Proxmox's default" if own.origin is Origin.DEFAULT else "the configured cpu"
    instead = f"args has -cpu {excerpt(text)}, which QEMU takes instead of {own.label}, {whence}."
    raw = qemu.spec_of(text, Origin.ARGS, arch=setting.arch)
    kept = tuple(remark for remark in own.remarks if remark.kind not in REPLACED)
    return replace(
        raw,
        written=own.written,
        remarks=(Remark(RemarkKind.OVERRIDDEN, instead), *raw.remarks, *kept),
        steps=(*own.steps, f"args replaces it: QEMU takes the last -cpu, {excerpt(text, 200)}"),
    )
