"""The configured CPU cannot be used: its custom model is missing, or the line is not valid.

## Why it matters

Proxmox VE drops a `cpu` line that does not validate, without a message in the interface or the
API: there it looks as if nothing had been configured. The guest starts with the default, `kvm64`
under KVM, which shows no AES and only level 1. Common causes are a custom model that was removed
or never copied to this cluster, a flag that is not allowed for a single guest, and a model that
an older version does not know. Any change of the guest through the interface or the API, of
whatever setting, then removes the line from the file for good.

## How it decides

It fires where the configuration names a custom model that the cluster does not define, or holds a
`cpu` line that Proxmox VE's own parser refuses. The severity is medium, and high where the guest
cannot start at all.

## Remedy

Restore the custom model, or write a valid line, before anything else is changed on that guest.

## What fix does

`unmask fix --vm 101 --cpu MODEL` plans the change, keeps the other settings of the guest's CPU, and
writes it once everything that it costs is acknowledged.

## When to accept it

Hardly ever: the line has no effect and misleads whoever reads it.

## References

- qemu-server, src/PVE/QemuServer.pm, parse_vm_config; observed with Proxmox VE 9.2
- qemu-server, src/PVE/QemuServer/CPUFlags.pm: the flags allowed for a single guest
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.model.case import GuestCase
from unmask.model.cpu import Remark, RemarkKind
from unmask.model.finding import About, Problem, Rule, Severity
from unmask.model.inventory import Platform
from unmask.rules import _commands, _words

KINDS = (RemarkKind.CUSTOM_MISSING, RemarkKind.CPU_DROPPED)


def check(case: GuestCase) -> Iterator[Problem]:
    """Yield a problem where what is configured as the CPU is not what the guest gets."""
    guest = case.guest
    spec = _commands.next_spec(case)
    remarks: list[Remark] = []
    for remark in (*guest.configured.remarks, *spec.remarks, *guest.remarks):
        if remark.kind in KINDS and remark not in remarks:
            remarks.append(remark)
    if not remarks:
        return
    missing = any(remark.kind is RemarkKind.CUSTOM_MISSING for remark in remarks)
    no_start = bool(spec.remarked(RemarkKind.NO_START))
    what = "the custom model does not exist" if missing else "the cpu line is not valid"
    written = f" ({spec.written})" if spec.written else ""
    result = "the guest does not start" if no_start else f"the guest gets {case.view.label}"
    yield Problem(
        severity=Severity.HIGH if no_start else Severity.MEDIUM,
        message=_words.about(case, f"{what}{written}, so {result}"),
        evidence=tuple(remark.text for remark in remarks),
        remedy=_remedy(case, missing=missing),
    )


def _remedy(case: GuestCase, *, missing: bool) -> str:
    if case.guest.platform is Platform.LIBVIRT:
        return "Correct the <cpu> element."
    first = (
        "Define the custom model again in /etc/pve/virtual-guest/cpu-models.conf, or choose another"
        if missing
        else "Write a valid cpu value"
    )
    return (
        f"{first}. Do it before anything else is changed on this guest: any change through the "
        "interface or the API removes the line for good."
    )


RULE = Rule("CPU006", "The configured CPU is not used", About.GUEST, check)
