"""The target's virtualisation software is older, or is known for refusing what comes from this one.

## Why it matters

Developers test moves from older versions to newer ones. Back again a guest can meet a node that
does not know a device, a property of its CPU, or the format of its state. And newer versions have
errors of their own: QEMU 10.0 reports the feature `ht` where older ones did not, and libvirt then
refuses the guest with "guest CPU doesn't match specification: extra features: ht" until it is
stopped and started, or the target's libvirt has the correction.

## How it decides

The live move is unknown where the target's Proxmox VE or libvirt is older than the source's (first
two numbers of the version), and where a guest of libvirt with a checked CPU goes from QEMU before
10.0 to 10.0 or newer and does not see `ht`. Where a version was not read, the live move is unknown.
A cold move is unknown where libvirt checks the CPU in full (check='full'), which refuses a feature
more as well as one less, and the versions of QEMU are not known to be equal. The policy 'forbid'
blocks it where the target has the flag, and match='strict' leaves it unknown on another CPU, unless
check='none'.

## Remedy

Update the target first. Stop and start guests that cannot follow.

## What fix does

Nothing: software is updated by the operator.

## When to accept it

Where the same move has been tried with the same versions.

## References

- Proxmox VE documentation: upgrade guides, "migrate from older to newer"
- libvirt, commit ba16113c7605: incoming migration to QEMU 10.0 and the feature `ht`; libvirt 11.9
  does not have it
- observed texts: harvester issue 11615, kubevirt issue 16386
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.cpu import move_views
from unmask.errors import UnreadError
from unmask.model.finding import About, Problem, Rule
from unmask.model.inventory import Host, Platform
from unmask.model.move import MoveCase
from unmask.model.reading import Known
from unmask.rules import _moves
from unmask.rules._moves import COLD, LIVE

REPORTS_HT = (10, 0)


def check(move: MoveCase) -> Iterator[Problem]:
    """Yield what the versions of both nodes leave open for a live move."""
    yield from _checked_in_full(move)
    yield from _too_much(move)
    if not _moves.moves_under_kvm(move):
        return
    source, target = move.source.value, move.target
    if move.case.guest.platform is Platform.LIBVIRT and _moves.guarded(move):
        yield from _extra_features(move, source, target)
    here, there = (_moves.version(host.software.hypervisor) for host in (source, target))
    if not here or not there:
        unread = [host.name for host in (source, target) if not _version_read(host)]
        raise UnreadError(
            "which versions of the hypervisor's software run on both nodes",
            f"the version on {' and '.join(unread)}",
        )
    if there < here:
        yield _moves.told(
            f"{target.name} has {target.software.hypervisor}, older than "
            f"{source.software.hypervisor} here: only moves to newer versions are tested.",
            unsure=(LIVE,),
            needs="an update of the target, or a trial",
        )


def _checked_in_full(move: MoveCase) -> Iterator[Problem]:
    """Yield where the next start compares each feature with what this QEMU makes of the model."""
    if dict(move_views.next_spec(move.case.guest).properties).get("check") != "full":
        return
    here = move.case.host.value.software.qemu if isinstance(move.case.host, Known) else ""
    there = move.target.software.qemu
    if not here or here != there:
        yield _moves.told(
            f"libvirt checks the CPU in full, and QEMU on {move.target.name} may add features to "
            "the model that it does not add here.",
            unsure=(COLD,),
            needs="a trial start, or check='partial'",
        )


def _too_much(move: MoveCase) -> Iterator[Problem]:
    """Yield where the next start asks for a host without some flags (forbid, match='strict')."""
    properties = dict(move_views.next_spec(move.case.guest).properties)
    if properties.get("check", "none") == "none":
        return
    forbidden = frozenset(properties.get("forbid", "").split())
    cpu, target = move.target.cpu, move.target.name
    there = forbidden & cpu.value.flags if isinstance(cpu, Known) else frozenset[str]()
    if there:
        yield _moves.told(
            f"The policy 'forbid' refuses a host with {_moves.named(there, move)}, which {target} "
            "has.",
            stops=(COLD,),
            flags=there,
        )
    elif forbidden and isinstance(cpu, Known) and not cpu.value.complete:
        yield _moves.told(
            f"The policy 'forbid' refuses a host with {_moves.named(forbidden, move)}, and whether "
            f"{target} has that is not known.",
            unsure=(COLD,),
            flags=forbidden,
            needs=f"/proc/cpuinfo of {target}",
        )
    both = _moves.cpus(move)
    if properties.get("match") == "strict" and (both is None or both[0] != both[1]):
        yield _moves.told(
            f"match='strict' refuses a host that has more than the model, and whether {target} "
            "does is not known.",
            unsure=(COLD,),
            needs="`virsh hypervisor-cpu-compare` there, or match='exact'",
        )


def _version_read(host: Host) -> bool:
    return bool(_moves.version(host.software.hypervisor))


def _extra_features(move: MoveCase, source: Host, target: Host) -> Iterator[Problem]:
    old, new = (_moves.version(host.software.qemu) for host in (source, target))
    if not old or not new or old >= REPORTS_HT or new < REPORTS_HT:
        return
    if move.case.view.x86 and not move.case.view.shows("ht"):
        yield _moves.told(
            f"From QEMU {source.software.qemu} to {target.software.qemu} libvirt can refuse a "
            "guest with several threads: extra features: ht.",
            unsure=(LIVE,),
            flags=("ht",),
            needs="a libvirt on the target that has the correction",
        )


RULE = Rule("MIG010", "The target's software is older or refuses it", About.MOVE, check, (LIVE,))
