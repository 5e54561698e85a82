"""High availability or replication may start the guest on a node that cannot give the new CPU.

## Why it matters

When a node dies, its guests are started on others: by the HA manager at once, by an operator from
replicated disks. A guest whose CPU those nodes lack does not start there, at the moment when it is
needed most.

## How it decides

It looks at guests that the HA manager keeps, and holds the new CPU against every other node of the
cluster; of other guests it looks at the nodes that their disks are replicated to. It fires for
nodes where the guest would surely not start. Nodes whose CPU is not known are told as such.

## Remedy

Take a model that all of these nodes can run: `recommended`, or one that `unmask baseline` lists.

## What fix does

It does not change HA rules or replication jobs.

## When to accept it

Where the HA rules keep the guest on nodes that can run it.

## References

- pve-ha-manager, src/PVE/HA/Manager.pm
- MIG014
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.cpu.resolve import resolve
from unmask.errors import UnreadError
from unmask.model.change_case import ChangeCase
from unmask.model.cpu import Accelerator, Mode
from unmask.model.finding import About, Problem, Rule
from unmask.model.inventory import Host
from unmask.model.reading import Missing
from unmask.rules import _changes, _words

TAKE = "Take a model that all of them can run; unmask baseline lists those."


def check(change: ChangeCase) -> Iterator[Problem]:
    """Yield the nodes on which the guest would not be started."""
    guest = change.then.guest
    if not _changes.is_vm(change) or guest.accelerator is not Accelerator.KVM:
        return
    unknown = []
    for peer in _reached(change):
        if isinstance(peer.cpu, Missing):
            unknown.append(peer.name)
            continue
        view = resolve(
            guest.configured, guest.arch, guest.accelerator, peer.cpu, peer.offers,
            peer.software.qemu,
        )  # fmt: skip
        if not view.starts:
            lost = _words.flags(view.lost, view.arch)
            yield _changes.told(
                f"{_who(change)} may start it on {peer.name}, where it does not start: that node "
                f"lacks {lost or 'this model'}.",
                TAKE,
                flags=view.lost,
            )
    if unknown and change.then.guest.configured.mode is not Mode.HOST:
        names = _words.listed(unknown)
        raise UnreadError(
            f"whether it starts on {names}, where {_who(change).lower()} may start it",
            f"/proc/cpuinfo of {names}",
        )


def _reached(change: ChangeCase) -> Iterator[Host]:
    guest = change.now.guest
    for peer in change.now.peers:
        if guest.high_availability or peer.name in guest.replicas:
            yield peer


def _who(change: ChangeCase) -> str:
    return "High availability" if change.now.guest.high_availability else "Replication"


RULE = Rule("RST009", "The guest may be started where it does not start", About.CHANGE, check)
