"""A VPN in the guest encrypts with AES on a CPU that hides what it needs.

## Why it matters

OpenVPN and IPsec use AES-GCM by default. OpenVPN in user space encrypts with OpenSSL, which needs
AES and PCLMULQDQ; it negotiates the cipher from a list and never looks at the CPU. IPsec on Linux,
and OpenVPN with data channel offload, are the kernel's work: its GCM looks for AES alone and
executes PCLMULQDQ without asking, so that under KVM a guest with x86-64-v2-AES is fast there, and
crashes under emulation. On FreeBSD (pfSense, OPNsense) aesni(4) needs SSE4.1 beside AES, or it
does not attach at all.

## How it decides

It takes configured and running OpenVPN instances, and IPsec's associations and connections. Each
workload is judged by the flags that the guest itself shows, or by its configured CPU where nobody
could look inside. Workloads that fare alike are one finding. WireGuard uses no AES and is CRY006.

The severity is high where it is in use, runs in software and keeps a quarter of its speed or less;
medium where only part of the hardware is used and less than half of the speed is left, where it is
in use and nothing was measured, or where it is set up and its use was not seen; low where it is
closed, only declared, or where the host's silicon itself lacks the flags. In an emulated guest
everything is software whatever the flags: that is said, at medium at most, and CPU004 comes first.

What could not be read inside is skipped, not passed; a guest that nobody looked into gets no
finding here.

## Remedy

`flags=+aes` for IPsec on Linux. For OpenVPN in user space a named or custom model with both flags.
For FreeBSD a model with SSE4.1 and AES (x86-64-v2-AES).

In the guest, OpenVPN is faster with `data-ciphers CHACHA20-POLY1305:AES-256-GCM` on both ends as
long as the flags are hidden.

## What fix does

`unmask fix --vm 101 --cpu recommended` plans the smallest CPU that serves the guest's encrypted
work, keeps the other settings of its CPU, and writes it once everything that it costs is
acknowledged.

## When to accept it

Where the line is slower than what is left: a few hundred megabits fit through a few percent.

## References

- OpenVPN, doc/man-sections/cipher-negotiation.rst; FreeBSD, sys/crypto/aesni/aesni.c
- Linux, arch/x86/crypto/aesni-intel_glue.c
- Figures: src/unmask/crypto/data/SOURCES.md
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.model.case import GuestCase
from unmask.model.finding import About, Problem, Rule
from unmask.model.workload import WorkloadKind
from unmask.rules import _workloads

KINDS = (WorkloadKind.OPENVPN, WorkloadKind.IPSEC)


def check(case: GuestCase) -> Iterator[Problem]:
    """Yield a problem for VPNs with AES that flags would make faster."""
    yield from _workloads.problems(case, KINDS)


RULE = Rule("CRY005", "OpenVPN or IPsec lacks CPU flags", About.GUEST, check)
