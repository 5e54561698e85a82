"""The guest can run guests of its own, and the target may not let it.

## Why it matters

A guest that sees `vmx` or `svm` may run virtual machines, or Windows its memory integrity. The
state of nested virtualisation goes along in a live migration only to a KVM that allows it too
(kvm_intel.nested, kvm_amd.nested), on a CPU with the same sub-features; to another one the move
fails or the guests inside die.

## How it decides

It looks at guests that see `vmx` or `svm`. Where the target's module parameter says no, the live
move is blocked, and a start is told what it loses. Where the parameter was not read, the live move
is unknown. Where both allow it, it is only told: whether guests run in the guest at this moment
cannot be seen from here.

## Remedy

Stop the guests inside first, or move it stopped. Hide `vmx` or `svm` from guests that do not need
it.

## What fix does

It moves nothing. Where this would hold for the guest with its new CPU, the plan names it as a
constraint that has to be acknowledged (`--ack MIG009`).

## When to accept it

Where nothing runs in the guest that uses it.

## References

- Linux documentation, virt/kvm/x86/running-nested-guests.rst, "Migrating an L1 guest, with a live
  nested guest in it"
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.cpu import move_views
from unmask.model.cpu import Accelerator, Mode
from unmask.model.finding import About, Problem, Rule
from unmask.model.move import MoveCase
from unmask.model.reading import Known
from unmask.rules import _moves
from unmask.rules._moves import COLD, LIVE


def check(move: MoveCase) -> Iterator[Problem]:
    """Yield what becomes of guests inside the guest."""
    guest = move.case.guest
    if guest.accelerator is not Accelerator.KVM or not _moves.is_vm(move) or move.unread:
        return
    seen = move_views.shown(move.case.view) & move_views.NESTING
    if not seen or seen & move.alive.lost:
        return
    source = move.case.host
    if isinstance(source, Known) and move_views.nesting(source.value) is False:
        return  # nothing of it reaches the guest here
    names, target = _moves.named(seen, move), move.target.name
    allowed = move_views.nesting(move.target)
    if allowed is False:
        yield from _forbidden(move, names, seen)
    elif not _moves.alive(move):
        return
    elif allowed is None:
        yield _moves.told(
            f"The guest sees {names}, and whether {target} lets guests run guests is not known.",
            unsure=(LIVE,),
            flags=seen,
            needs=f"{_parameter(seen)} of {target}, which pve+ssh:// reads",
        )
    else:
        yield _moves.told(
            f"The guest sees {names}: if guests run in it at that moment, they go along only "
            "between equal CPUs.",
            flags=seen,
        )


def _forbidden(move: MoveCase, names: str, seen: frozenset[str]) -> Iterator[Problem]:
    enforced = move.started.shows(*seen) and move_views.next_spec(move.case.guest).enforced
    named = move_views.next_spec(move.case.guest).mode is Mode.MODEL
    stops = ((LIVE,) if _moves.alive(move) else ()) + ((COLD,) if enforced and named else ())
    yield _moves.told(
        f"The guest sees {names}, and {move.target.name} lets no guest run guests "
        f"({_parameter(seen)} is off).",
        stops=stops,
        flags=seen,
    )


def _parameter(seen: frozenset[str]) -> str:
    return "kvm_amd.nested" if "svm" in seen else "kvm_intel.nested"


RULE = Rule("MIG009", "The guest runs guests that the target may not", About.MOVE, check, (LIVE,))
