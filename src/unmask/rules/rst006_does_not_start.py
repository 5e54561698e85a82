"""The guest would not start on its own host with the new CPU.

## Why it matters

Proxmox VE starts every model but `host` with `enforce`, and libvirt checks most of them: one flag
that the host lacks, and the guest does not start. A configuration takes such a CPU without a word,
and the failure comes with the next start, perhaps months later.

## How it decides

It resolves the new CPU on the guest's host, with what that host's hypervisor says of itself. It
fires where the guest would surely not start: this cannot be taken on. Where the host's CPU is not
known, it says that, and that can be taken on.

## Remedy

Take a model that the host can run: `recommended`, or one that `unmask baseline` lists.

## What fix does

It refuses where it is sure.

## When to accept it

Only where it is not known, and somebody is there when the guest is started.

## References

- qemu-server, src/PVE/QemuServer/CPUConfig.pm (`enforce`)
- libvirt, src/qemu/qemu_process.c, qemuProcessUpdateGuestCPU
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.model.change_case import ChangeCase
from unmask.model.cpu import Accelerator, Mode, RemarkKind, State
from unmask.model.finding import About, Problem, Rule
from unmask.model.reading import Known, Missing
from unmask.rules import _changes, _scope, _words

TAKE = "Take a model that it can run: --cpu recommended, or one that unmask baseline lists."
PASSING = (Mode.HOST, Mode.MAXIMUM, Mode.HOST_MODEL)


def check(change: ChangeCase) -> Iterator[Problem]:
    """Yield a problem where the guest would not start, or where that is not known."""
    then = change.then
    if not _changes.is_vm(change):
        return
    view, spec = then.view, then.guest.configured
    host = then.host.value.name if isinstance(then.host, Known) else "its host"
    if not view.starts and view.lost:
        names = _words.flags(view.lost, view.arch)
        said = f"{host} cannot give {names}: with {view.label} the guest does not start there."
        yield _changes.told(said, TAKE, flags=view.lost, fatal=True)
    elif not view.starts:
        why = [item.text.rstrip(".") for item in spec.remarked(RemarkKind.NO_START)]
        said = why[0] if why else f"{host} does not start a guest with {view.label}"
        yield _changes.told(f"{said}.", TAKE, fatal=True)
    elif spec.mode is Mode.HOST and view.accelerator is Accelerator.TCG:
        said = f"{view.label} needs KVM, and QEMU emulates this guest: it would not start."
        yield _changes.told(said, "Take a named model.", fatal=True)
    elif _scope.model_usable(then) is False:
        said = f"The hypervisor of {host} says that {view.label} is not usable there."
        yield _changes.told(said, TAKE, fatal=True)
    elif _open(change):
        yield _unknown(change)


def _open(change: ChangeCase) -> bool:
    view, spec = change.then.view, change.then.guest.configured
    if view.accelerator is Accelerator.TCG:
        return False
    if _scope.known_host_cpu(change.then) is None:
        return True
    return bool(spec.mode not in PASSING and view.rest is State.UNKNOWN)


def _unknown(change: ChangeCase) -> Problem:
    then = change.then
    reason, needs = f"what {then.view.label} shows could not be resolved", ""
    missing = then.host if isinstance(then.host, Missing) else None
    if missing is None and isinstance(then.host.value.cpu, Missing):
        missing = then.host.value.cpu
    if missing is not None:
        reason, needs = f"the CPU of its host is not known ({missing.reason})", missing.needs
    return _changes.told(
        f"Whether the guest starts with {then.view.label} is not known: {reason}.",
        f"Read it first: {needs}." if needs else "Be there when it is started.",
    )


RULE = Rule("RST006", "The guest would not start with the new CPU", About.CHANGE, check)
