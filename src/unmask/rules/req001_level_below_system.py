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

`unmask fix --vm 101 --cpu MODEL` plans the change, keeps the other settings of the guest's CPU, and
writes it once everything that it costs is acknowledged.

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
from unmask.model.cpu import State
from unmask.model.finding import About, Confidence, Problem, Rule, Severity
from unmask.rules import _needs, _scope, _words


def check(case: GuestCase) -> Iterator[Problem]:
    """Yield a problem where the declared operating system needs more than the guest sees."""
    need = os_levels.need(case.guest.os_declared)
    if need is None or not _scope.on_x86(case) or _needs.seen(case):
        return
    hidden = frozenset(flag for flag in need.flags if case.view.hides(flag))
    if not hidden:
        for flag in sorted(need.flags):
            if case.view.state(flag) is not State.SHOWN:
                raise UnreadError(_needs.unsure(case, flag), "the flags of the guest's host")
        return
    advice = _needs.advice(case, need)
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
        remedy=advice.text,
        command=advice.command,
        confidence=Confidence.TENTATIVE,
        flags=tuple(sorted(hidden)),
    )


def _severity(case: GuestCase, need: Need) -> Severity:
    return Severity.LOW if need.several or _scope.runs(case) else Severity.MEDIUM


def _running(case: GuestCase) -> Iterator[str]:
    if _scope.runs(case):
        yield "The guest runs all the same, so the declaration may be wrong."


RULE = Rule("REQ001", "The CPU is below what the declared system needs", About.GUEST, check)
