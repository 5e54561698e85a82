"""The value of `-cpu` with which Proxmox starts a guest.

Source: get_cpu_options and what it calls in PVE/QemuServer/CPUConfig.pm (qemu-server 9.2.6), and
the strings that it generated for 235 recorded settings. Later groups of flags replace earlier
ones: what Proxmox adds itself, what Windows likes, the abstract model, the custom model, the
guest's own flags, what must not be changed. The names are sorted without their sign.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from unmask.cpu import catalogue
from unmask.dialects.proxmox.cpu_option import CpuOption
from unmask.dialects.proxmox.custom_models import REPORTED_MODEL
from unmask.dialects.proxmox.release import NEWEST, at_least
from unmask.errors import InputError

OLD_WINDOWS = {"wxp": 5, "w2k": 5, "w2k3": 5, "w2k8": 6, "wvista": 6}
MACHINE = re.compile(r"(?:pc-i440fx|pc-q35|pc|virt)-(?P<version>[0-9]+\.[0-9]+)")

Word = tuple[str, str, str]
"""Name, sign ("" for a property), value ("" for none)."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What beside `cpu:` decides the command line."""

    kvm: bool = True
    arch: str = "x86_64"
    ostype: str = ""
    bios: str = ""
    machine: str = ""
    """The machine type as configured; without a version it is the newest."""
    graphics: bool = False
    """A graphics card is passed through (`x-vga=1`), for which Proxmox hides KVM."""
    host_flags: frozenset[str] | None = None
    """Which of `svm` and `vmx` is here decides `nested-virt`; None where it is not known."""
    version: str = NEWEST

    @property
    def windows(self) -> int:
        """Return the version of Windows that `ostype` declares, 0 for other systems."""
        match = re.fullmatch(r"win([0-9]{1,4})", self.ostype)
        return int(match[1]) if match else OLD_WINDOWS.get(self.ostype, 0)

    @property
    def x86(self) -> bool:
        """Return whether the guest is one of x86."""
        return self.arch == "x86_64"

    def machine_at_least(self, wanted: str) -> bool:
        """Return whether the machine type is of this QEMU version or newer."""
        match = MACHINE.search(self.machine)
        return at_least(match["version"], wanted) if match else True


def default_model(setting: Setting) -> str:
    """Return the model of a guest without a valid `cpu:`."""
    if setting.arch == "aarch64" and not at_least(setting.version, "9.2.3"):
        return "cortex-a57"
    return catalogue.proxmox_default(setting.arch, kvm=setting.kvm)


def cpu_argument(
    option: CpuOption | None, models: Mapping[str, CpuOption], setting: Setting
) -> str:
    """Return the value of `-cpu` for a guest with the valid `cpu:` `option`.

    Raises:
        InputError: Proxmox does not start such a guest; the text is what it says.
    """
    own = option or CpuOption(default_model(setting))
    custom = models.get(own.custom) if own.custom else None
    if own.custom and custom is None:
        raise InputError(f"Custom cputype '{own.custom}' not found")
    model = (custom.reported_model or REPORTED_MODEL) if custom else own.cputype
    if option and model not in catalogue.proxmox_cpu_names(setting.arch):
        raise InputError(
            f"CPU model '{model}' does not exist for configured vCPU architecture '{setting.arch}'"
        )
    abstract = catalogue.proxmox_model(model)
    base = abstract.reported_model if abstract else model
    base = catalogue.proxmox_deprecated(base) or base
    words: dict[str, Word] = {}
    for group in (
        _proxmox(base, setting),
        _hyper_v(_last(custom, own, "hv_vendor_id"), setting),
        ((name, "+", "") for name in (abstract.qemu_flags if abstract else ())),
        _flags(custom, setting),
        _flags(own, setting),
        _forced(base, _hidden(custom, own, setting), setting),
    ):
        words.update({word[0]: word for word in group})
    level = _last(custom, own, "level")
    return ",".join(
        [base, *([f"level={level}"] if level else [])]
        + [_written(words[name]) for name in sorted(words)]
        + list(_bits(custom, own))
    )


def _written(word: Word) -> str:
    name, sign, value = word
    return f"{sign}{name}={value}" if value else f"{sign}{name}"


def _last(custom: CpuOption | None, own: CpuOption, name: str) -> str:
    """Return the guest's own value, else the custom model's, else ""."""
    value: str = getattr(own, name) or (getattr(custom, name) if custom else "")
    return value


def _hidden(custom: CpuOption | None, own: CpuOption, setting: Setting) -> bool:
    if own.hidden is not None:
        return own.hidden
    if custom and custom.hidden is not None:
        return custom.hidden
    return setting.graphics


def _proxmox(model: str, setting: Setting) -> Iterator[Word]:
    """What some models and systems need to work at all."""
    if not setting.x86:
        return
    words = list(catalogue.proxmox_added(model))
    if setting.kvm:
        words += catalogue.proxmox_added_when("kvm")
    if setting.ostype == "solaris":
        words += catalogue.proxmox_added_when("solaris")
    newest = setting.machine_at_least("11.0")
    if setting.windows >= 11 and newest:
        words += catalogue.proxmox_added_when("windows11_qemu11")
    if model == "host" and not newest:
        words.append("-vmx-mbec")
    yield from ((word[1:], word[0], "") for word in words)


def _hyper_v(vendor: str, setting: Setting) -> Iterator[Word]:
    """What Windows guests get under KVM."""
    windows = setting.windows
    unfit = windows < 6 or (setting.bios == "ovmf" and windows < 8)
    if unfit or not setting.kvm or not setting.x86:
        return
    if vendor or setting.graphics:
        yield "hv_vendor_id", "", vendor or "proxmox"
    yield "hv_spinlocks", "", "0x1fff"
    for name in ("hv_vapic", "hv_time", "hv_reset", "hv_vpindex", "hv_runtime"):
        yield name, "", ""
    if windows >= 7:
        for name in ("hv_relaxed", "hv_synic", "hv_stimer", "hv_ipi"):
            yield name, "", ""
    if windows >= 11:
        yield "hv_evmcs", "", ""


def _flags(option: CpuOption | None, setting: Setting) -> Iterator[Word]:
    """The flags of a custom model or of the guest itself; the last of a name counts."""
    for sign, name in option.flags if option else ():
        if name == "nested-virt":
            nested = frozenset({"svm", "vmx"}) & (setting.host_flags or frozenset())
            yield from ((flag, sign, "") for flag in sorted(nested)[:1])
        else:
            yield name, sign, ""


def _forced(model: str, hidden: bool, setting: Setting) -> Iterator[Word]:  # noqa: FBT001
    if model != "host" and setting.kvm and setting.x86:
        yield "enforce", "", ""
    if hidden:
        yield "kvm", "", "off"
    vendor = catalogue.proxmox_vendor(model)
    if setting.x86 and vendor:
        yield "vendor", "", vendor


def _bits(custom: CpuOption | None, own: CpuOption) -> Iterable[str]:
    guest = _last(custom, own, "guest_phys_bits")
    if guest:
        yield f"guest-phys-bits={guest}"
    physical = _last(custom, own, "phys_bits")
    if physical:
        yield "host-phys-bits=true" if physical == "host" else f"phys-bits={physical}"
