"""The target cannot give flags of a guest whose CPU is enforced: it does not start there.

## Why it matters

A live guest keeps the CPU that it was started with. Proxmox VE starts every model but `host` with
`enforce`, and libvirt sends the running CPU along to be checked: a target that lacks one flag
refuses to start its QEMU. The migration fails, and nothing is lost: the guest goes on running where
it is. A guest that is stopped here does not start there either.

## How it decides

Alive, it takes the flags that the guest was started with (the process's `-cpu`, libvirt's live XML,
the `runningcpu` of a hibernated guest), and only for want of these what is configured. What the
target can give is, first, what its hypervisor says (libvirt's domain capabilities with `usable`,
the cluster's list of flags), and then its /proc/cpuinfo with what is known of what KVM passes on.
Stopped, it resolves the CPU of the next start on the target. It blocks the kinds of move for which
a flag is surely missing, and leaves unknown those for which it may be. A cold move with a model
that is not in the catalogue, or that is none of x86, is unknown unless both CPUs are equal. A
target whose CPU was not read, a guest of another hypervisor than QEMU, and one whose own flags are
not known are never taken for possible. A target of another architecture is blocked. Flags that only
microcode or firmware has taken from the same silicon are MIG003's.

## Remedy

Choose a model that both nodes can run (`unmask baseline` proposes one), and stop and start the
guest.

## What fix does

It moves nothing. Where this would hold for the guest with its new CPU, the plan names it as a
constraint that has to be acknowledged (`--ack MIG001`).

## When to accept it

Where the guest never has to go to that node.

## References

- qemu-server, src/PVE/QemuServer/CPUConfig.pm (`enforce`)
- libvirt, src/cpu/cpu_x86.c, virCPUx86UpdateLive; QEMU_MIGRATION_COOKIE_CPU in
  src/qemu/qemu_migration_cookie.c
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.cpu import catalogue, move_views
from unmask.errors import UnreadError
from unmask.model.cpu import Accelerator, Mode
from unmask.model.finding import About, Problem, Rule
from unmask.model.inventory import Platform
from unmask.model.move import MoveCase
from unmask.model.reading import Known
from unmask.rules import _moves
from unmask.rules._moves import BOTH, COLD, LIVE


def check(move: MoveCase) -> Iterator[Problem]:
    """Yield what the target lacks of a CPU that is enforced, and what is not known of it."""
    if not _moves.is_vm(move) or move.case.guest.accelerator is Accelerator.TCG:
        return
    if not _moves.under_kvm(move):
        raise UnreadError("what its hypervisor, which is not QEMU, asks of a target")
    arch = move.target.cpu.value.arch if isinstance(move.target.cpu, Known) else ""
    if _moves.foreign(move.case.guest.arch, arch):
        yield _moves.told(
            f"{move.target.name} is a host of {arch}: KVM runs no guest of {move.case.guest.arch}.",
            stops=BOTH,
        )
        return
    if move.unread is not None:
        said = f"what {move.target.name} can give: {move.unread.reason}"
        raise UnreadError(said, move.unread.needs)
    if not move.case.view.arch:
        raise UnreadError("the guest's architecture", "its complete configuration")
    yield from _told_of_flags(move)
    yield from _own_unknown(move)
    yield from _next_unknown(move)


def _told_of_flags(move: MoveCase) -> Iterator[Problem]:
    live = move.alive.lost if _moves.alive(move) and _moves.guarded(move) else frozenset[str]()
    cold = frozenset[str]() if move.started.starts else move.started.lost
    live -= _moves.withdrawn(move, live)
    cold -= _moves.withdrawn(move, cold)
    if live and live == cold:
        yield _lacking(move, live, BOTH)
    else:
        if live:
            yield _lacking(move, live, (LIVE,))
        if cold:
            yield _lacking(move, cold, (COLD,))
    if not move.started.starts and not move.started.lost:
        yield _moves.told(f"Started on {move.target.name} it fails: {_why(move)}.", stops=(COLD,))
    yield from _doubts(move)


def _doubts(move: MoveCase) -> Iterator[Problem]:
    live = move.doubt if _moves.alive(move) and _moves.guarded(move) else frozenset[str]()
    cold = move.start_doubt if move.started.starts else frozenset[str]()
    asked = [(live, BOTH)] if live == cold else [(live, (LIVE,)), (cold, (COLD,))]
    for flags, kinds in asked:
        if flags:
            yield _moves.told(
                f"Whether {move.target.name} has {_moves.named(flags, move)} is not known.",
                unsure=kinds,
                flags=flags,
                needs=f"/proc/cpuinfo of {move.target.name}",
            )


def _lacking(move: MoveCase, flags: frozenset[str], stops: tuple[_moves.MoveKind, ...]) -> Problem:
    what = f"{move.target.name} cannot give {_moves.named(flags, move)}"
    source = move.case.host.value.name if isinstance(move.case.host, Known) else "its node"
    if stops == (COLD,):
        end = f"{move.started.label} is enforced, so it does not start there"
    elif move.case.guest.platform is Platform.LIBVIRT:
        end = (
            f"libvirt there refuses the running CPU (missing features), and the guest goes on "
            f"running on {source}"
        )
    else:
        end = (
            f"{move.alive.label} is enforced, so that QEMU there does not start, and the guest "
            f"goes on running on {source}"
        )
    return _moves.told(f"{what}: {end}.", stops=stops, flags=flags)


def _why(move: MoveCase) -> str:
    guest = move.case.guest
    spec = move_views.next_spec(guest)
    if dict_of_usable(move).get(spec.model) is False:
        return f"its libvirt says that {spec.model} is not usable there"
    remarks = [item.text.rstrip(".") for item in spec.remarks if item.kind == "no-start"]
    last = move.started.steps[-1] if move.started.steps else "this CPU starts nowhere"
    return remarks[0] if remarks else last


def dict_of_usable(move: MoveCase) -> dict[str, bool]:
    """Return what the target's hypervisor says of named models for guests of this kind."""
    kind = (move.case.guest.arch, move.case.guest.accelerator)
    return {
        name: usable
        for offer in move.target.offers
        if (offer.arch, offer.accelerator) == kind
        for name, usable in offer.usable
    }


def _own_unknown(move: MoveCase) -> Iterator[Problem]:
    """A guest of which it is not known what it runs with."""
    if not (_moves.alive(move) and _moves.guarded(move) and _moves.open_ended(move)):
        return
    model = move.case.guest.current.model
    if model and catalogue.find(model) and move.case.view.x86:
        return
    said = move.case.view.steps[-1] if move.case.view.steps else "its CPU could not be resolved"
    yield _moves.told(
        f"With which flags the guest runs is not fully known: {said}.",
        unsure=(LIVE,),
        needs="the command line of its process, or libvirt's live XML",
    )


def _next_unknown(move: MoveCase) -> Iterator[Problem]:
    """A CPU of which nobody knows whether it starts there: of a new model, or not of x86."""
    guest, view = move.case.guest, move.started
    spec = move_views.next_spec(guest)
    emulated = (guest.pending_accelerator or guest.accelerator) is not Accelerator.KVM
    if emulated or not view.starts or spec.mode not in (Mode.MODEL, Mode.UNKNOWN):
        return
    both = _moves.cpus(move)
    alike = both is not None and both[0] == both[1]
    known = view.x86 and spec.mode is Mode.MODEL and catalogue.find(spec.model) is not None
    if alike or known or dict_of_usable(move).get(spec.model or spec.label):
        return
    why = view.steps[-1] if view.steps else "its CPU could not be resolved"
    yield _moves.told(
        f"Whether {spec.label} starts on {move.target.name} is not known: {why}.",
        unsure=(COLD,),
        needs=f"a trial start on {move.target.name}",
    )


RULE = Rule("MIG001", "The target lacks flags that are enforced", About.MOVE, check)
