"""A running guest cannot move alive to any other node of its cluster because of its CPU.

## Why it matters

Before a node is updated or repaired its guests are moved away. A guest whose CPU no other node can
give has to be stopped for that, which is noticed on the day on which it is least wanted. Under
`host` nothing even stops the move: the guest arrives on a CPU that lacks what it uses, and crashes.

## How it decides

It looks at virtual machines under KVM, in clusters of two nodes or more, that run or may run (a
copy of configuration files does not tell). It holds the flags that the guest was started with
against what each other node can give, with the same functions as `unmask migrate-check` (MIG001 to
MIG003), and fires where every other node lacks some. It says nothing where one node can take the
guest as far as the CPU goes: what else holds it there, such as a device or a local disk, `unmask
migrate-check` tells. Where no node surely can and one of them is not known, the check is skipped.

## Remedy

Give the guest a model that the nodes have in common (`unmask baseline` proposes one); it takes
effect after a stop and start.

## What fix does

`unmask fix --vm 101 --cpu MODEL` plans the change, keeps the other settings of the guest's CPU, and
writes it once everything that it costs is acknowledged.

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
from unmask.model.baseline import Node, UnknownNode
from unmask.model.case import GuestCase
from unmask.model.cpu import Accelerator, CpuSpec, State
from unmask.model.finding import About, Problem, Rule, Severity
from unmask.model.inventory import GuestState, Host, Platform
from unmask.rules import _advice, _commands, _scope, _words
from unmask.rules._peers import Same

RUNS = (GuestState.RUNNING, GuestState.PAUSED, GuestState.UNKNOWN)
"""A copy of configuration files does not tell: there every guest is taken to run."""


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
    """What there is to say of the other hosts, once for all guests of one CPU on one host."""

    able: bool
    unknown: tuple[str, ...]
    message: str
    evidence: tuple[str, ...]
    flags: tuple[str, ...]


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
    yield _problem(case, found)


@lru_cache(maxsize=4096)
def _judged(asked: _Asked) -> _Peers:
    case = asked.case
    lacking: dict[frozenset[str], list[str]] = {}
    unknown = []
    able = False
    for peer in case.peers:
        views = move_views.views(case, peer, _place(peer))
        if views.alive.lost:
            lacking.setdefault(views.alive.lost, []).append(peer.name)
        elif views.unread or views.doubt or case.view.rest is not State.HIDDEN:
            unknown.append(peer.name)
        else:
            able = True
    if able:
        return _Peers(able, (), "", (), ())
    return _Peers(able, tuple(unknown), _message(case), _evidence(lacking), _flags(lacking))


@lru_cache(maxsize=1024)
def _place(peer: Host) -> Node | UnknownNode:
    return node_flags.node(peer)


def _message(case: GuestCase) -> str:
    guarded = move_views.guarded(case.guest)
    end = "so that such a move fails" if guarded else "and nothing stops such a move"
    return (
        f"{case.view.label} cannot be given in full by any other node, {end}: the guest cannot "
        "move alive"
    )


def _evidence(lacking: dict[frozenset[str], list[str]]) -> tuple[str, ...]:
    return tuple(
        f"{_words.listed(names)} {'lacks' if len(names) == 1 else 'lack'} {_words.flags(lost)}."
        for lost, names in lacking.items()
    )


def _flags(lacking: dict[frozenset[str], list[str]]) -> tuple[str, ...]:
    return tuple(sorted(frozenset[str]().union(*lacking)))


def _problem(case: GuestCase, found: _Peers) -> Problem:
    shown = frozenset(flag for flag in _advice.BOTH if case.view.shows(flag))
    known = _scope.known_host_cpu(case) is not None
    model = _advice.smallest(case, shown) if known else ""
    return Problem(
        severity=Severity.LOW,
        message=found.message,
        evidence=found.evidence,
        remedy=_commands.in_arguments(case) or _remedy(model),
        command=_commands.set_model(case, model, lacks=found.flags) if model else "",
        flags=found.flags,
    )


def _remedy(model: str) -> str:
    if model:
        return f"If it must move alive, use {model}, which all known nodes can run."
    return "If it must move alive, choose a CPU that the nodes have in common: unmask baseline."


RULE = Rule("MIG016", "A guest cannot move alive because of its CPU", About.GUEST, check)
