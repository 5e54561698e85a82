"""Windows encrypts its volumes in software, because the CPU hides AES.

## Why it matters

BitLocker uses AES-XTS, or AES-CBC on older volumes; both need AES and SSSE3 and nothing else.
Without them Windows encrypts with tables, and every access to the disk costs processor time.

On AMD hosts a flag may not help: SymCrypt, Windows's library, turns AES off on AMD CPUs of a
family below 15h, and Proxmox VE's kvm64 and x86-64-v2 to v4 are of family 0Fh with the host's
vendor. That was read in its published source and not tested on Windows.

## How it decides

It takes the volumes whose encryption is on. Each workload is judged by the flags that the guest
itself shows, or by its configured CPU where nobody could look inside. Workloads that fare alike
are one finding. On an AMD host it also fires, low, where such a model shows AES and Windows may
not use it. That Windows encrypts with SymCrypt as published is inferred, so the confidence is
tentative.

The severity is high where it is in use, runs in software and keeps a quarter of its speed or less;
medium where only part of the hardware is used and less than half of the speed is left, where it is
in use and nothing was measured, or where it is set up and its use was not seen; low where it is
closed, only declared, or where the host's silicon itself lacks the flags. In an emulated guest
everything is software whatever the flags: that is said, at medium at most, and CPU004 comes first.

What could not be read inside is skipped, not passed; a guest that nobody looked into gets no
finding here.

## Remedy

`flags=+aes` on an Intel host where the model shows SSSE3, else a named model (Westmere and newer
on Intel, EPYC on AMD). Windows can be slower on `host` than on a named model.

## What fix does

`unmask fix --vm 101 --cpu recommended` plans the smallest CPU that serves the guest's encrypted
work, keeps the other settings of its CPU, and writes it once everything that it costs is
acknowledged.

## When to accept it

Where the volume is seldom used.

## References

- SymCrypt, lib/cpuid.c, lib/xtsaes.c, lib/aes-default.c
- Figures: src/unmask/crypto/data/SOURCES.md
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.model.case import GuestCase
from unmask.model.finding import About, Confidence, Problem, Rule, Severity
from unmask.model.outlook import Status
from unmask.model.workload import WorkloadKind
from unmask.rules import _advice, _scope, _single_flags, _words, _workload_words, _workloads

KINDS = (WorkloadKind.BITLOCKER,)
WANTED = frozenset({"aes", "ssse3"})
TURNED_OFF = (
    "SymCrypt turns AES-NI off on AMD CPUs of a family below 15h (read in its source, not tested "
    "on Windows)."
)


def check(case: GuestCase) -> Iterator[Problem]:
    """Yield a problem for BitLocker volumes that flags would make faster."""
    yield from _ignored(case)
    yield from _workloads.problems(case, KINDS)


def _ignored(case: GuestCase) -> Iterator[Problem]:
    """Yield that Windows may not use the AES which it is shown."""
    shown = tuple(
        item.workload
        for item in case.workloads
        if item.workload.kind in KINDS
        and item.outlook is not None
        and item.outlook.status is Status.HARDWARE
    )
    if not shown or not (_single_flags.of_old_family(case) and _scope.accelerated(case)):
        return
    if not _single_flags.ignored_by_windows(case):
        return
    advice = _advice.show(case, WANTED, unsure=True)
    yield Problem(
        severity=Severity.LOW,
        message=_words.about(
            case,
            f"{_workload_words.called(shown)} may run in software: {case.view.label} shows AES-NI "
            "on an AMD CPU of family 0Fh, where Windows turns it off",
        ),
        evidence=(
            *_workload_words.seen(shown),
            _words.cpu(case),
            TURNED_OFF,
        ),
        remedy=f"Measure the disk's speed first. {advice.text}",
        command=advice.command,
        confidence=Confidence.TENTATIVE,
        flags=("aes",),
    )


RULE = Rule("CRY003", "BitLocker lacks AES", About.GUEST, check)
