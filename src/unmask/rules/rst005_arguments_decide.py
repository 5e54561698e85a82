"""Raw arguments decide the CPU, so that a change of the configured one has no effect.

## Why it matters

QEMU takes the last `-cpu` of its command line, and Proxmox VE appends `args:`, libvirt
`<qemu:commandline>`. A change that is written, shown by the interface and without any effect is
worse than none.

## How it decides

It fires where the arguments of the guest's next start hold a `-cpu`. This cannot be taken on: the
change would be useless.

## Remedy

Remove `-cpu` and its value from the arguments and keep the rest, then plan again. On Proxmox VE
only root@pam may change `args`.

## What fix does

It refuses, and changes no arguments.

## When to accept it

It cannot be accepted. Change the model in the arguments, if they have to stay.

## References

- CPU003
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.model.change_case import ChangeCase
from unmask.model.cpu import Origin, RemarkKind
from unmask.model.finding import About, Problem, Rule
from unmask.model.inventory import Platform
from unmask.rules import _changes, _commands


def check(change: ChangeCase) -> Iterator[Problem]:
    """Yield a problem where raw arguments decide."""
    guest = change.now.guest
    spec = _commands.next_spec(change.now)
    overridden = spec.origin is Origin.ARGS or spec.remarked(RemarkKind.OVERRIDDEN)
    remarked = any(item.kind is RemarkKind.OVERRIDDEN for item in guest.remarks)
    if not _changes.is_vm(change) or not (overridden or remarked):
        return
    proxmox = guest.platform is Platform.PROXMOX
    place = "args" if proxmox else "<qemu:commandline>"
    yield _changes.told(
        f"The -cpu in {place} decides the guest's CPU: the change would have no effect.",
        f"Remove -cpu and its value from {place} and keep its other arguments"
        f"{'; only root@pam may' if proxmox else ''}. Then plan again.",
        fatal=True,
    )


RULE = Rule("RST005", "Raw arguments make the change useless", About.CHANGE, check)
