"""The target has lost flags that the guest runs with to microcode or firmware, such as TSX.

## Why it matters

Two nodes with the same processor can differ: a microcode or firmware update takes TSX (`hle`,
`rtm`) away, a firmware setting AES or AVX-512, and a new kernel no longer passes on what an old one
did. Half way through a round of updates guests can move in one direction only, and a model such as
Haswell does not start on the updated node any more.

## How it decides

It looks at the flags that the target lacks: those of TSX on any node, and all of them where the
source has a CPU of the same vendor, family and model. A live move is blocked; the message says
whether the guest is safe (the flags are enforced, and QEMU refuses) or would arrive without them.
A cold move is blocked where the next start enforces such a flag.

## Remedy

Update the other nodes as well or undo the setting; use a model's variant without TSX (-noTSX).
Nothing that encrypts needs TSX.

## What fix does

It moves nothing. Where this would hold for the guest with its new CPU, the plan names it as a
constraint that has to be acknowledged (`--ack MIG003`).

## When to accept it

While a round of updates is on its way, for guests that can wait.

## References

- Intel, "TSX Asynchronous Abort" (TAA) and the TSX memory ordering advisory
- QEMU documentation, "CPU models for x86 hosts", noTSX variants
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.model.cpu import Accelerator
from unmask.model.finding import About, Problem, Rule
from unmask.model.move import MoveCase
from unmask.rules import _models, _moves
from unmask.rules._moves import BOTH, COLD, LIVE


def check(move: MoveCase) -> Iterator[Problem]:
    """Yield what the target lacks although its silicon could have it."""
    if move.case.guest.accelerator is not Accelerator.KVM or not _moves.is_vm(move):
        return
    live = frozenset[str]()
    if _moves.moves_under_kvm(move):
        live = _moves.withdrawn(move, move.alive.lost)
    cold = frozenset[str]()
    if not move.started.starts:
        cold = _moves.withdrawn(move, move.started.lost)
    if live and live == cold:
        yield _told(move, live, BOTH)
        return
    if live:
        yield _told(move, live, (LIVE,))
    if cold:
        yield _told(move, cold, (COLD,))


def _told(move: MoveCase, flags: frozenset[str], stops: tuple[_moves.MoveKind, ...]) -> Problem:
    tsx = "TSX" if flags <= _models.TSX else "them"
    how = "has the same CPU without" if _moves.same_silicon(move) else "lacks"
    what = f"{move.target.name} {how} {_moves.named(flags, move)}"
    cause = f"microcode, firmware or kernel has taken {tsx} away"
    if stops == (COLD,):
        end = "it does not start there"
    elif _moves.guarded(move):
        end = "QEMU there does not start, and the guest goes on running here"
    else:
        end = "nothing stops the move, and the guest crashes where it uses them"
    return _moves.told(f"{what} ({cause}): {end}.", stops=stops, flags=flags)


RULE = Rule("MIG003", "Microcode or firmware has taken flags from the target", About.MOVE, check)
