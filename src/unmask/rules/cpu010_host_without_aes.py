"""The host's own CPU has no AES instructions, so no CPU model can show them.

## Why it matters

All encryption on this host and in its guests runs without hardware help. Changing the CPU model
of a guest cannot help, and rules that would advise it stay silent here; this finding says why.

Some CPUs have AES and do not show it: firmware can turn it off, old microcode can hide it, and a
host that is itself a guest sees only what its own hypervisor passes on.

## How it decides

It looks at hosts of x86 and of 64-bit ARM whose flags are known and complete. On other
architectures encryption uses other instructions, which are not judged here. Where the flags are
not known, the check is skipped.

## Remedy

Look for a firmware setting ("AES-NI", "Intel AES-NI", "Advanced encryption"). On a host that is a
guest, change its own CPU model. Otherwise choose ciphers that are fast without AES, such as
ChaCha20-Poly1305, or move encrypted guests to a host with AES.

## What fix does

Nothing: no change of a guest would help.

## When to accept it

Where the CPU really has none.

## References

- Linux, /proc/cpuinfo; Intel SDM, CPUID leaf 1, ECX bit 25; Arm ARM, ID_AA64ISAR0_EL1.AES
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.errors import UnreadError
from unmask.model.case import HostCase
from unmask.model.finding import About, Confidence, Problem, Rule, Severity
from unmask.model.inventory import Platform

JUDGED = ("x86_64", "i686", "aarch64")


def check(case: HostCase) -> Iterator[Problem]:
    """Yield a problem where the host's CPU has no AES."""
    if case.host.platform is Platform.UNSEEN:
        return
    cpu = case.host.cpu.value
    if cpu.arch not in JUDGED or "aes" in cpu.flags:
        return
    if not cpu.complete:
        raise UnreadError("the list of the host's flags is not complete", "its /proc/cpuinfo")
    nested = "hypervisor" in cpu.flags
    model = f" ({cpu.model_name})" if cpu.model_name else ""
    yield Problem(
        severity=Severity.INFO,
        message=(
            f"the CPU of {case.host.name}{model} has no AES: no guest's CPU model can change that"
        ),
        evidence=(
            f"Its list of {len(cpu.flags)} flags does not have aes.",
            *(["The host is a guest itself, so its own CPU model may hide it."] if nested else []),
        ),
        remedy=(
            "Change the CPU model of the host, which is a virtual machine itself."
            if nested
            else "Look for an AES setting in the firmware; if there is none, prefer ChaCha20, or "
            "run encrypted guests on other hosts."
        ),
        confidence=Confidence.CERTAIN,
        flags=("aes",),
    )


RULE = Rule("CPU010", "The host's CPU has no AES", About.HOST, check)
