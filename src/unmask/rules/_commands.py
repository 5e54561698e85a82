"""Commands that change a guest's CPU, written so that they keep what else is configured.

Identifiers are quoted for the shell: a domain's or guest's name comes from outside.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from shlex import quote

from unmask.cpu.features import flags_of, qemu_name
from unmask.model.case import GuestCase
from unmask.model.cpu import CpuSpec, Mode, Origin
from unmask.model.inventory import Guest, Platform

PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,30}")
"""A domain's name that nothing takes for an id, a UUID (32 digits or more) or an option."""

WAITS = "The change that is pending cures it: stop the guest and start it again."
"""The remedy where a configuration is right already, and `restart` the command."""


def set_model(
    case: GuestCase, model: str, *, shows: Collection[str] = (), lacks: Collection[str] = ()
) -> str:
    """Return the command that gives the guest another model; "" where none would have an effect.

    Of the guest's own flags, what turns any of `shows` off or any of `lacks` on is left out: it
    would undo what the model is chosen for.
    """
    spec = next_spec(case)
    if case.guest.platform is Platform.LIBVIRT:
        return edit(case)
    if spec.origin is Origin.ARGS:
        return ""
    value = proxmox_value(spec, model=model, shows=shows, lacks=lacks)
    return f"qm set {quote(case.guest.ident)} --cpu {quote(value)}"


def drop_flags(case: GuestCase, flags: Collection[str]) -> str:
    """Return the command that leaves flags out of the guest's own; "" where they are not there."""
    spec = next_spec(case)
    if case.guest.platform is Platform.PROXMOX and spec.origin is not Origin.CONFIG:
        return ""
    model = proxmox_cputype(spec.written) or spec.label
    return set_model(case, model, shows=flags, lacks=flags)


def in_arguments(case: GuestCase) -> str:
    """Return a sentence that says where the CPU must be changed, "" where that is the usual place.

    A raw `-cpu` decides as long as it is there, so that no other change has an effect.
    """
    if next_spec(case).origin is not Origin.ARGS:
        return ""
    if case.guest.platform is Platform.LIBVIRT:
        return "The -cpu in <qemu:commandline> decides: change it there."
    return "The -cpu in args decides: change it there, which only root@pam may."


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
    return f"virsh edit {quote(_domain(case))}"


def restart(case: GuestCase) -> str:
    """Return the command that stops the guest and starts it again."""
    if case.guest.platform is Platform.PROXMOX:
        return f"qm reboot {quote(case.guest.ident)}"
    domain = quote(_domain(case))
    kind = "uuid" if _domain(case) == case.guest.ident else "name"
    # virsh shutdown only asks the guest: a start that follows at once would fail.
    runs = f"virsh list --{kind} | grep -qxF -- {domain}"
    return f"virsh shutdown {domain} && while {runs}; do sleep 2; done && virsh start {domain}"


def _domain(case: GuestCase) -> str:
    return domain(case.guest)


def domain(guest: Guest) -> str:
    """Return what virsh is to be told: the name where it is a plain word, else the UUID.

    virsh takes a word for an id (digits) or a UUID before it takes it for a name.
    """
    return guest.name if PLAIN.fullmatch(guest.name) else guest.ident or guest.name


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


def proxmox_value(
    spec: CpuSpec,
    model: str,
    flags: Collection[str] = (),
    *,
    shows: Collection[str] = (),
    lacks: Collection[str] = (),
) -> str:
    """Return a Proxmox `cpu` value with another model or more flags, all else kept.

    What Proxmox has dropped or does not use (origin DEFAULT) is not carried over, nor is what
    turns any of `shows` off or any of `lacks` on.
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
    unwanted = {"-": shows, "+": lacks}
    present = [
        flag
        for flag in present
        if flag[1:] not in {new[1:] for new in added}
        and flags_of(flag[1:]).isdisjoint(unwanted.get(flag[0], ()))
    ]
    together = ";".join(present + added)
    return ",".join([model, *kept, *([f"flags={together}"] if together else [])])


def passes_host(spec: CpuSpec) -> bool:
    """Return whether a specification passes on all that the host can give."""
    return spec.mode in (Mode.HOST, Mode.HOST_MODEL, Mode.MAXIMUM)
