"""The CPU model's name is deprecated or stands for another model.

## Why it matters

A deprecated name works until an upgrade removes it, and then the guest does not start, or starts
with the default. Proxmox VE maps a few names to others already: Icelake-Client never existed as
silicon with these flags and is Icelake-Server today, so a guest gets another model than its
configuration says.

## How it decides

It fires where Proxmox VE maps the configured name to another one, where QEMU marks the model as
deprecated, or where the source has noted so.

## Remedy

Write the name that the old one stands for. Nothing changes for the guest.

## What fix does

`unmask fix --vm 101 --cpu MODEL` plans the change, keeps the other settings of the guest's CPU, and
writes it once everything that it costs is acknowledged.

## When to accept it

Until the next upgrade of the hypervisor.

## References

- qemu-server, src/PVE/QemuServer/CPUConfig.pm, the map of deprecated models
- QEMU documentation, "Deprecated features"
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.cpu import catalogue
from unmask.model.case import GuestCase
from unmask.model.cpu import RemarkKind
from unmask.model.finding import About, Problem, Rule, Severity
from unmask.model.inventory import Platform
from unmask.rules import _commands, _words


def check(case: GuestCase) -> Iterator[Problem]:
    """Yield a problem where the configured name is deprecated."""
    spec = _commands.next_spec(case)
    reasons = [remark.text for remark in spec.remarked(RemarkKind.DEPRECATED)]
    proxmox = case.guest.platform is Platform.PROXMOX
    # Of a mapped name the label is already the one that Proxmox VE puts in its place.
    name = (_commands.proxmox_cputype(spec.written) if proxmox else "") or spec.label
    replacement = catalogue.proxmox_deprecated(name) if proxmox else None
    if replacement:
        reasons.append(f"Proxmox VE uses {replacement} in place of {name}.")
    model = catalogue.find(spec.model) if spec.model else None
    if model is not None and model.deprecated:
        reasons.append(f"QEMU marks {spec.model} as deprecated: {model.deprecated}")
    if not reasons:
        return
    instead = f": use {replacement}" if replacement else ""
    yield Problem(
        severity=Severity.LOW,
        message=_words.about(case, f"the CPU model {name} is deprecated{instead}"),
        evidence=tuple(dict.fromkeys(reasons)),
        remedy=(
            f"Write {replacement}; the guest's CPU stays the same."
            if replacement
            else "Choose a model that stays before the hypervisor is upgraded."
        ),
        command=_commands.set_model(case, replacement) if replacement else "",
    )


RULE = Rule("CPU007", "The CPU model is deprecated", About.GUEST, check)
