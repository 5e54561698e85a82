"""Commands that change a guest's CPU, written so that they keep what else is configured.

Identifiers are quoted for the shell: a domain's or guest's name comes from outside.
"""

from __future__ import annotations

from collections.abc import Collection
from shlex import quote

from unmask.cpu.features import qemu_name
from unmask.model.case import GuestCase
from unmask.model.cpu import CpuSpec, Mode, Origin
from unmask.model.inventory import Platform

WAITS = "The change that is pending cures it: stop the guest and start it again."
"""The remedy where a configuration is right already, and `restart` the command."""


def set_model(case: GuestCase, model: str) -> str:
    """Return the command that gives the guest another model; "" where none would have an effect."""
    spec = next_spec(case)
    if case.guest.platform is Platform.LIBVIRT:
        return edit(case)
    if spec.origin is Origin.ARGS:
        return ""
    return f"qm set {quote(case.guest.ident)} --cpu {quote(proxmox_value(spec, model=model))}"


def add_flags(case: GuestCase, flags: Collection[str]) -> str:
    """Return the command that turns flags on beside the model; "" where there is none."""
    spec = next_spec(case)
    if case.guest.platform is Platform.LIBVIRT:
        return edit(case)
    if spec.origin in (Origin.ARGS, Origin.CUSTOM):
        return ""
    value = proxmox_value(spec, model=spec.label, flags=flags)
    return f"qm set {quote(case.guest.ident)} --cpu {quote(value)}"


def edit(case: GuestCase) -> str:
    """Return the libvirt command that opens the guest's configuration in an editor."""
    return f"virsh edit {quote(case.guest.ident or case.guest.name)}"


def restart(case: GuestCase) -> str:
    """Return the command that stops the guest and starts it again."""
    ident = quote(case.guest.ident or case.guest.name)
    if case.guest.platform is Platform.PROXMOX:
        return f"qm reboot {ident}"
    return f"virsh shutdown {ident} && virsh start {ident}"


def next_spec(case: GuestCase) -> CpuSpec:
    """Return the configuration that a change would start from."""
    return case.guest.pending or case.guest.configured


def proxmox_cputype(written: str) -> str:
    """Return the cputype that a Proxmox `cpu` value names, "" where it names none."""
    for part in filter(None, (part.strip() for part in written.split(","))):
        key, equals, value = part.partition("=")
        if not equals or key == "cputype":
            return value if equals else key
    return ""


def proxmox_value(spec: CpuSpec, model: str, flags: Collection[str] = ()) -> str:
    """Return a Proxmox `cpu` value with another model or more flags, all else kept.

    What Proxmox has dropped or does not use (origin DEFAULT) is not carried over.
    """
    written = spec.written if spec.origin in (Origin.CONFIG, Origin.CUSTOM) else ""
    kept: list[str] = []
    present: list[str] = []
    for part in filter(None, (part.strip() for part in written.split(","))):
        key, equals, value = part.partition("=")
        if key == "flags":
            present = [flag for flag in value.split(";") if flag]
        elif equals and key != "cputype":
            kept.append(part)
    added = [f"+{qemu_name(flag)}" for flag in sorted(flags)]
    present = [flag for flag in present if flag[1:] not in {new[1:] for new in added}]
    together = ";".join(present + added)
    return ",".join([model, *kept, *([f"flags={together}"] if together else [])])


def passes_host(spec: CpuSpec) -> bool:
    """Return whether a specification passes on all that the host can give."""
    return spec.mode in (Mode.HOST, Mode.HOST_MODEL, Mode.MAXIMUM)
