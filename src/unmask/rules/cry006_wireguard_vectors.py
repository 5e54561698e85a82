"""WireGuard runs in narrow code, because the CPU hides SSSE3 or AVX2; AES is not the cause.

## Why it matters

WireGuard uses ChaCha20-Poly1305, whatever the CPU has: it never touches AES, and a model that
shows AES makes it no faster. Its speed hangs on vector instructions. Measured with OpenSSL's code,
which has the same steps (Sapphire Rapids, 16 KiB blocks):

| the guest sees | MB/s | models |
| --- | --- | --- |
| neither | 474 | kvm64, qemu64 |
| SSSE3 | 892 | x86-64-v2, x86-64-v2-AES, Westmere |
| AVX2 | 1720 | x86-64-v3, Haswell, EPYC |
| AVX-512 | 2640 | x86-64-v4, Skylake-Server |

## How it decides

It takes WireGuard's interfaces and configurations. Each workload is judged by the flags that the
guest itself shows, or by its configured CPU where nobody could look inside. Workloads that fare
alike are one finding. It fires where SSSE3 or AVX2 is hidden. /proc/crypto does not show what
WireGuard uses, so the flags decide.

The severity is high where it is in use, runs in software and keeps a quarter of its speed or less;
medium where only part of the hardware is used and less than half of the speed is left, where it is
in use and nothing was measured, or where it is set up and its use was not seen; low where it is
closed, only declared, or where the host's silicon itself lacks the flags. In an emulated guest
everything is software whatever the flags: that is said, at medium at most, and CPU004 comes first.

What could not be read inside is skipped, not passed; a guest that nobody looked into gets no
finding here.

## Remedy

The smallest model with AVX2, `x86-64-v3` on Proxmox VE, or where the host has none the smallest
with SSSE3. It need not have AES.

## What fix does

`unmask fix --vm 101 --cpu recommended` plans the smallest CPU that serves the guest's encrypted
work, keeps the other settings of its CPU, and writes it once everything that it costs is
acknowledged.

## When to accept it

Where the line is slower than what is left, as most are.

## References

- Linux, arch/x86/crypto/chacha_glue.c, lib/crypto/x86/chacha.h
- Figures: src/unmask/crypto/data/SOURCES.md
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.model.case import GuestCase
from unmask.model.finding import About, Problem, Rule
from unmask.model.workload import WorkloadKind
from unmask.rules import _workloads

KINDS = (WorkloadKind.WIREGUARD,)


def check(case: GuestCase) -> Iterator[Problem]:
    """Yield a problem for WireGuard where vector instructions are hidden."""
    yield from _workloads.problems(case, KINDS)


RULE = Rule("CRY006", "WireGuard lacks vector instructions", About.GUEST, check)
