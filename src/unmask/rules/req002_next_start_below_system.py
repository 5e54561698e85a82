"""The system that was seen inside will not boot with the CPU that the guest is started with next.

## Why it matters

A guest keeps the CPU that it was started with. Its configuration may have been changed since, or
not by anybody who knows what runs there: Red Hat Enterprise Linux 9 and its rebuilds need
x86-64-v2, version 10 needs v3, SUSE Linux Enterprise 16 needs v2, Windows from build 26100 on
(Windows 11 24H2, Server 2025) needs SSE4.2 and POPCNT. All is well until the next stop and start,
and then the guest does not come back: "Fatal glibc error: CPU does not support x86-64-v2", a kernel
panic of init, or a Windows that restarts without a message.

## How it decides

It takes the system as the guest itself tells it (/etc/os-release, the build of Windows), and the
CPU that the guest will have after a stop and start. It fires where that surely hides what the
system needs. The severity is high where the guest sees it now, so that it will be lost; low where
the guest runs without it already, which shows that it needs less. A rebuild that is only known to
be like Red Hat's is tentative. What only the configuration declares is REQ001. Where the system
could not be read inside, or the flags of the next start are not known, the check is skipped.

## Remedy

The smallest level that is enough: `x86-64-v2-AES` on Proxmox VE for v2, `x86-64-v3` for v3, or a
named model that also shows PCLMULQDQ. Until then the guest must not be stopped.

## What fix does

`unmask fix --vm 101 --cpu MODEL` plans the change, keeps the other settings of the guest's CPU, and
writes it once everything that it costs is acknowledged.

## When to accept it

Where the guest is going to be reinstalled before its next start.

## References

- Origin of each line of the table: src/unmask/cpu/data/os_levels.json
- glibc, sysdeps/x86/dl-prop.h ("CPU ISA level is lower than required")
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.cpu import os_levels
from unmask.cpu.os_levels import Need
from unmask.errors import UnreadError
from unmask.model.case import GuestCase
from unmask.model.cpu import State
from unmask.model.finding import About, Confidence, Problem, Rule, Severity
from unmask.model.inside import UNASKED, System
from unmask.rules import _needs, _scope, _words


def check(case: GuestCase) -> Iterator[Problem]:
    """Yield a problem where the next start hides what the system inside needs."""
    inside = _scope.inside(case)
    if inside is None or inside.system == UNASKED or not _scope.on_x86(case):
        return
    system = inside.system.value
    need = os_levels.need_of(system)
    if need is None:
        return
    ahead = _scope.at_next_start(case)
    hidden = _needs.hidden(ahead.view, need)
    if hidden:
        yield _problem(case, ahead, system, need, hidden)
        return
    if case.pending is None and case.observed and case.observed.shows(*need.flags):
        return
    for flag in sorted(need.flags):
        if ahead.view.state(flag) is not State.SHOWN:
            raise UnreadError(_needs.unsure(ahead, flag), "the flags of the guest's host")


def _problem(
    case: GuestCase, ahead: GuestCase, system: System, need: Need, hidden: frozenset[str]
) -> Problem:
    without = bool(case.observed and _needs.hidden(case.observed, need))
    sure = Severity.MEDIUM if need.several else Severity.HIGH
    advice = _needs.advice(case, need)
    when = "runs without" if without else "will not boot again without"
    return Problem(
        severity=Severity.LOW if without else sure,
        message=_words.about(
            case,
            f"{system.name or need.system} {when} {_words.flags(hidden)}, which "
            f"{ahead.view.label} hides",
        ),
        evidence=(
            f"The guest itself says that it runs {system.name or need.system}.",
            f"{need.reason} ({need.origin}).",
            _words.next_cpu(case, ahead),
            *_now(case, need, without=without),
        ),
        remedy=advice.text if without else f"{advice.text} Until then do not stop the guest.",
        command=advice.command,
        confidence=Confidence.TENTATIVE if need.several or without else Confidence.FIRM,
        flags=tuple(sorted(hidden)),
    )


def _now(case: GuestCase, need: Need, *, without: bool) -> Iterator[str]:
    if without:
        yield "It runs all the same, so this build of it may need less."
    elif case.observed and case.observed.shows(*need.flags):
        yield "The guest sees it now: it was started with another CPU."


RULE = Rule(
    "REQ002", "The next start's CPU is below what the system inside needs", About.GUEST, check
)
