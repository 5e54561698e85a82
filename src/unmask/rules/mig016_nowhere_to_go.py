"""A running guest cannot move alive to any other node of its cluster because of its CPU.

## Why it matters

Before a node is updated or repaired its guests are moved away. A guest whose CPU no other node can
give has to be stopped for that, which is noticed on the day on which it is least wanted. Under
`host` nothing even stops the move: the guest arrives on a CPU that lacks what it uses, and crashes.

## How it decides

It looks at running virtual machines under KVM in clusters of two nodes or more, and holds the flags
that the guest was started with against what each other node can give (the same functions as
`unmask migrate-check`, MIG001 to MIG003). It fires where every other node lacks some. It says
nothing where one node can take the guest as far as the CPU goes: what else holds it there, such as
a device or a local disk, `unmask migrate-check` tells. Where no node surely can and one of them is
not known, the check is skipped.

## Remedy

Give the guest a model that the nodes have in common (`unmask baseline` proposes one); it takes
effect after a stop and start.

## What fix does

Nothing yet: this version reads and never writes. The finding gives the command to run.

## When to accept it

Where the guest may be stopped whenever its node is, or is bound to the node anyway.

## References

- unmask migrate-check, which judges each guest and node
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from unmask.cpu import move_views, node_flags
from unmask.errors import UnreadError
from unmask.model.case import GuestCase
from unmask.model.cpu import Accelerator, CpuSpec, State
from unmask.model.finding import About, Problem, Rule, Severity
from unmask.model.inventory import GuestState, Platform
from unmask.rules import _advice, _commands, _scope, _words
from unmask.rules._peers import Same

RUNS = (GuestState.RUNNING, GuestState.PAUSED)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What decides which peers can take a guest: equal for guests of one CPU on one host."""

    current: CpuSpec
    arch: str
    accelerator: Accelerator
    platform: Platform
    host: str
    peers: Same
    case: GuestCase = field(compare=False)


@dataclass(frozen=True, slots=True)
class _Peers:
    """What the other hosts lack, and those of which that is not known."""

    lacking: tuple[tuple[str, frozenset[str]], ...]
    unknown: tuple[str, ...]
    able: bool


def check(case: GuestCase) -> Iterator[Problem]:
    """Yield a problem where no other node can give the running guest its CPU."""
    guest = case.guest
    if guest.state not in RUNS or guest.template or not case.peers:
        return
    if not _scope.on_kvm_x86(case):
        return
    found = _judged(
        _Asked(
            guest.current, guest.arch, guest.accelerator, guest.platform, guest.host,
            Same(case.peers), case,
        )
    )  # fmt: skip
    if found.able:
        return
    if found.unknown:
        names = _words.listed(found.unknown)
        raise UnreadError(f"whether {names} can give it its CPU is not known", "/proc/cpuinfo")
    yield _problem(case, found.lacking)


@lru_cache(maxsize=4096)
def _judged(asked: _Asked) -> _Peers:
    case = asked.case
    lacking, unknown = [], []
    able = False
    for peer in case.peers:
        views = move_views.views(case, peer, node_flags.node(peer))
        if views.alive.lost:
            lacking.append((peer.name, views.alive.lost))
        elif views.unread or views.doubt or case.view.rest is not State.HIDDEN:
            unknown.append(peer.name)
        else:
            able = True
    return _Peers(tuple(lacking), tuple(unknown), able)


def _problem(case: GuestCase, lacking: tuple[tuple[str, frozenset[str]], ...]) -> Problem:
    guarded = move_views.guarded(case.guest)
    grouped: dict[frozenset[str], list[str]] = {}
    for name, lost in lacking:
        grouped.setdefault(lost, []).append(name)
    every = frozenset[str]().union(*grouped)
    end = "so that such a move fails" if guarded else "and nothing stops such a move"
    shown = frozenset(flag for flag in _advice.BOTH if case.view.shows(flag))
    known = _scope.known_host_cpu(case) is not None
    model = _advice.smallest(case, shown) if known else ""
    return Problem(
        severity=Severity.LOW,
        message=(
            f"{case.view.label} cannot be given in full by any other node, {end}: the guest cannot "
            "move alive"
        ),
        evidence=tuple(
            f"{_words.listed(names)} {'lacks' if len(names) == 1 else 'lack'} {_words.flags(lost)}."
            for lost, names in grouped.items()
        ),
        remedy=_commands.in_arguments(case) or _remedy(model),
        command=_commands.set_model(case, model, lacks=every) if model else "",
        flags=tuple(sorted(every)),
    )


def _remedy(model: str) -> str:
    if model:
        return f"If it must move alive, use {model}, which all known nodes can run."
    return "If it must move alive, choose a CPU that the nodes have in common: unmask baseline."


RULE = Rule("MIG016", "A guest cannot move alive because of its CPU", About.GUEST, check)
