"""The guest's x86-64 level is below what its declared operating system needs.

## Why it matters

Recent systems are built for a newer CPU than `kvm64` shows. Red Hat Enterprise Linux 9 and its
rebuilds need x86-64-v2, version 10 needs v3, SUSE Linux Enterprise 16 needs v2, and Windows 11
24H2 and Windows Server 2025 need SSE4.2 and POPCNT. Below that they do not boot: "Fatal glibc
error: CPU does not support x86-64-v2", a kernel panic of init, or a Windows that restarts without
a message.

## How it decides

It takes the operating system as the configuration declares it: `ostype` on Proxmox VE, the
libosinfo identity in libvirt's metadata. A declaration is not proof, so the confidence is always
tentative. `l26` says only "Linux" and leads to nothing. `win11` stands for Windows 11, Server
2022 and Server 2025 alike, so the severity is low there. A guest that runs below its system's
level shows that the declaration is wrong or old; the severity is low then, else medium. Emulated
guests are judged too. Where the guest's flags are not known, the check is skipped.

## Remedy

The smallest level that is enough: `x86-64-v2-AES` on Proxmox VE for v2, `x86-64-v3` for v3, or a
named model that also shows PCLMULQDQ.

## What fix does

Nothing yet: this version reads and never writes. The finding gives the command to run.

## When to accept it

Where the declaration is wrong, or the system is an older one than declared.

## References

- Origin of each line of the table: src/unmask/cpu/data/os_levels.json
- glibc, sysdeps/x86/dl-platform ("CPU ISA level is lower than required")
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.cpu import os_levels
from unmask.cpu.os_levels import Need
from unmask.errors import UnreadError
from unmask.model.case import GuestCase
from unmask.model.cpu import Accelerator, State
from unmask.model.finding import About, Confidence, Problem, Rule, Severity
from unmask.model.inventory import Platform
from unmask.rules import _advice, _commands, _scope, _words


def check(case: GuestCase) -> Iterator[Problem]:
    """Yield a problem where the declared operating system needs more than the guest sees."""
    need = os_levels.need(case.guest.os_declared)
    if need is None or not _scope.on_x86(case):
        return
    hidden = frozenset(flag for flag in need.flags if case.view.hides(flag))
    if not hidden:
        for flag in sorted(need.flags):
            if case.view.state(flag) is not State.SHOWN:
                raise UnreadError(_unsure(case, flag), "the flags of the guest's host")
        return
    yield Problem(
        severity=_severity(case, need),
        message=_words.about(
            case, f"{case.view.label} hides {_words.flags(hidden)}, which {need.system} needs"
        ),
        evidence=(
            f"The configuration declares {case.guest.os_declared}, taken as {need.system}.",
            f"{need.reason} ({need.origin}).",
            *_running(case),
            _words.cpu(case),
        ),
        remedy=_remedy(case, need),
        command=_commands.restart(case) if _waits(case, need) else _command(case, need),
        confidence=Confidence.TENTATIVE,
        flags=tuple(sorted(hidden)),
    )


def _unsure(case: GuestCase, flag: str) -> str:
    if case.view.state(flag) is State.UNKNOWN:
        return _scope.unresolved(case)
    return f"whether the guest sees {flag} depends on a host whose flags are not known"


def _severity(case: GuestCase, need: Need) -> Severity:
    return Severity.LOW if need.several or _scope.runs(case) else Severity.MEDIUM


def _running(case: GuestCase) -> Iterator[str]:
    if _scope.runs(case):
        yield "The guest runs all the same, so the declaration may be wrong."


def _model(case: GuestCase, need: Need) -> str:
    """Return the name of a model that is enough and, as far as is known, runs here, or ""."""
    if case.view.accelerator is Accelerator.TCG:
        return ""
    host = _scope.known_host_cpu(case)
    if host and not need.flags <= host.flags:
        return ""
    if case.guest.platform is Platform.LIBVIRT:
        return _advice.smallest(case, need.flags | _advice.BOTH) if host else ""
    if need.level == 3:
        return "x86-64-v3"
    return "x86-64-v2" if host and "aes" not in host.flags else "x86-64-v2-AES"


def _waits(case: GuestCase, need: Need) -> bool:
    later = _scope.restart_brings(case)
    return later is not None and later.shows(*need.flags)


def _remedy(case: GuestCase, need: Need) -> str:
    if _waits(case, need):
        return _commands.WAITS
    arguments = _commands.in_arguments(case)
    model = _model(case, need)
    if arguments or not model:
        return arguments or f"Choose a CPU model of at least x86-64-v{need.level}."
    return (
        f"Use {model}, which is enough for {need.system}. It takes effect after a stop and start."
    )


def _command(case: GuestCase, need: Need) -> str:
    model = _model(case, need)
    return _commands.set_model(case, model, shows=need.flags) if model else ""


RULE = Rule("REQ001", "The CPU is below what the declared system needs", About.GUEST, check)
