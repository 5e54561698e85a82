"""The CPU model has TSX (`hle`, `rtm`), and a host has it no more.

## Why it matters

Intel has switched TSX off on most CPUs by microcode and firmware updates. The plain names of
several models (Haswell, Broadwell, Skylake-Server, Cascadelake-Server, Icelake-Server) still
contain it. After such an update a guest with one of them does not start any more, or cannot move
to an updated node, although model and silicon have the same name.

## How it decides

It looks at x86 virtual machines under KVM whose CPU asks for `hle` or `rtm`. It fires where TSX
is all that the host cannot give; if more is missing, CPU005 names it all. The severity is high
where the flags are enforced and the guest is stopped. Where the host's flags are not known, and
libvirt was not asked about the model, the check is skipped.

## Remedy

Use the model's variant without TSX, whose name ends in -noTSX or -noTSX-IBRS. Nothing that
encrypts needs TSX.

## What fix does

`unmask fix --vm 101 --cpu MODEL` plans the change, keeps the other settings of the guest's CPU, and
writes it once everything that it costs is acknowledged.

## When to accept it

Where the guest runs, and will be changed at its next planned stop.

## References

- QEMU documentation, "CPU models for x86 hosts", noTSX variants
- Intel, "TSX Asynchronous Abort" (TAA) and the TSX memory ordering advisory
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.cpu import catalogue
from unmask.errors import UnreadError
from unmask.model.case import GuestCase
from unmask.model.cpu import Mode
from unmask.model.finding import About, Problem, Rule
from unmask.rules import _commands, _models, _next_start, _peers, _scope, _words


def check(case: GuestCase) -> Iterator[Problem]:
    """Yield a problem where the guest's next start asks for TSX and its host has none."""
    yield from _next_start.judged(case, _problems)


def _problems(case: GuestCase) -> Iterator[Problem]:
    if not _scope.on_kvm_x86(case):
        return
    asked = _asked(case)
    if not asked or case.guest.current.exact:
        return
    host = case.host_cpu
    if not host.complete and asked - host.flags:
        if _scope.model_usable(case) is not None:
            return  # libvirt has looked at all of the model, which is CPU005's to tell
        raise UnreadError("whether the host's CPU has TSX is not known", "its /proc/cpuinfo")
    lost = asked - host.flags
    if not lost or case.view.lost - _models.TSX:
        return
    enforced = case.guest.current.enforced
    variant = _models.without_tsx(case.view.model, _peers.known_cpus(case)) or _models.without_tsx(
        case.view.model, frozenset([host])
    )
    yield Problem(
        severity=_words.severity_of_loss(case, enforced=enforced),
        message=_words.about(
            case,
            f"{case.view.label} asks for TSX ({_words.flags(lost)}), which {_words.host(case)} "
            f"does not have, {_words.outcome_of_loss(case, enforced=enforced)}",
        ),
        evidence=("TSX has been switched off on many CPUs by updates.",),
        remedy=_commands.in_arguments(case) or _remedy(variant),
        command=_commands.set_model(case, variant, lacks=lost) if variant else "",
        flags=tuple(sorted(lost)),
    )


def _remedy(variant: str) -> str:
    if variant:
        return f"Use {variant}, the same model without TSX."
    return "Turn hle and rtm off, or choose a model without them."


def _asked(case: GuestCase) -> frozenset[str]:
    """Return the TSX flags that the configuration asks for."""
    spec = case.guest.current
    model = catalogue.find(spec.model) if spec.mode is Mode.MODEL else None
    base = model.flags if model else frozenset()
    return ((base | spec.on) - spec.off) & _models.TSX


RULE = Rule("CPU008", "A TSX model on a host without TSX", About.GUEST, check)
