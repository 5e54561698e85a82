"""A raw QEMU `-cpu` argument replaces the CPU that is configured.

## Why it matters

Proxmox VE appends `args:` to QEMU's command line, libvirt does the same with
`<qemu:commandline>`, and QEMU takes the last `-cpu` it is given. The configured CPU then has no
effect at all: the interface shows one model, the guest has another, and changing the model in the
interface changes nothing. Recipes for macOS guests and for passing a graphics card through often
contain such a line, and it stays when the reason is long gone.

## How it decides

It fires where the source has found a `-cpu` among the raw arguments of the configuration. The
guest's CPU is judged by that argument, here and in all other rules. Arguments without `-cpu` say
nothing about the CPU and are left alone.

## Remedy

Decide which of the two is meant. To let the configured CPU count again, remove `-cpu` and its
value from the arguments and keep the rest. On Proxmox VE only root@pam may change `args`, not
even an API token of root.

## What fix does

It refuses: a change of the configured model would have no effect here, and must not be reported as
one (RST005).

## When to accept it

Where the argument does what no configuration can, as macOS guests and some tricks for drivers
need.

## References

- qemu-server, src/PVE/QemuServer.pm, "add custom args"; src/PVE/API2/Qemu.pm, "only root can set"
- libvirt, "QEMU command-line passthrough" (drvqemu)
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.model.case import GuestCase
from unmask.model.cpu import Remark, RemarkKind
from unmask.model.finding import About, Confidence, Problem, Rule, Severity
from unmask.model.inventory import Platform
from unmask.rules import _commands, _words


def check(case: GuestCase) -> Iterator[Problem]:
    """Yield a problem where raw arguments decide the CPU."""
    guest = case.guest
    remarks = (*guest.configured.remarked(RemarkKind.OVERRIDDEN), *_of_guest(case))
    if not remarks:
        return
    proxmox = guest.platform is Platform.PROXMOX
    place = "args" if proxmox else "<qemu:commandline>"
    yield Problem(
        severity=Severity.LOW,
        message=_words.about(
            case, f"{place} replaces the configured CPU: the guest gets {case.view.label}"
        ),
        evidence=tuple(dict.fromkeys(remark.text for remark in remarks)),
        remedy=(
            f"Remove -cpu and its value from {place}, and keep its other arguments, so that the "
            f"configured CPU counts again{'; only root@pam may change args' if proxmox else ''}. "
            "Until then a change of the configured CPU has no effect."
        ),
        command="" if proxmox else _commands.edit(case),
        confidence=Confidence.CERTAIN,
    )


def _of_guest(case: GuestCase) -> Iterator[Remark]:
    return (remark for remark in case.guest.remarks if remark.kind is RemarkKind.OVERRIDDEN)


RULE = Rule("CPU003", "Raw arguments override the configured CPU", About.GUEST, check)
