"""GELI, gocryptfs, eCryptfs, fscrypt or VeraCrypt encrypts on a CPU that hides what it needs.

## Why it matters

Each needs other flags. FreeBSD's aesni(4), which serves GELI, wants SSE4.1 beside AES: a guest
with `kvm64,flags=+aes` shows AES, and aesni(4) does not attach. fscrypt and eCryptfs use the
kernel's AES. gocryptfs uses AES-GCM and needs PCLMULQDQ; its releases up to 2.4 looked at AES
alone and chose Go's slow code on Proxmox VE's x86-64-v3, where a user measured 197 MB/s against
4933 MB/s on the host (issue 822).

## How it decides

It takes attached providers of GELI, and mounted or configured file encryption. Each workload is
judged by the flags that the guest itself shows, or by its configured CPU where nobody could look
inside. Workloads that fare alike are one finding.

The severity is high where it is in use, runs in software and keeps a quarter of its speed or less;
medium where only part of the hardware is used and less than half of the speed is left, where it is
in use and nothing was measured, or where it is set up and its use was not seen; low where it is
closed, only declared, or where the host's silicon itself lacks the flags. In an emulated guest
everything is software whatever the flags: that is said, at medium at most, and CPU004 comes first.

What could not be read inside is skipped, not passed; a guest that nobody looked into gets no
finding here.

## Remedy

`x86-64-v2-AES` for GELI; `flags=+aes` for what the Linux kernel encrypts; a named or custom model
with PCLMULQDQ for gocryptfs. In the guest, a new gocryptfs with `-xchacha` is faster meanwhile
where the finding says so.

## What fix does

`unmask fix --vm 101 --cpu recommended` plans the smallest CPU that serves the guest's encrypted
work, keeps the other settings of its CPU, and writes it once everything that it costs is
acknowledged.

## When to accept it

Where little is stored there.

## References

- FreeBSD, sys/crypto/aesni/aesni.c (detect_cpu_features)
- gocryptfs, internal/stupidgcm/prefer.go, issue 822
- Figures: src/unmask/crypto/data/SOURCES.md
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.model.case import GuestCase
from unmask.model.finding import About, Problem, Rule
from unmask.model.workload import WorkloadKind
from unmask.rules import _workloads

KINDS = (WorkloadKind.GELI, WorkloadKind.FILES)


def check(case: GuestCase) -> Iterator[Problem]:
    """Yield a problem for GELI and file encryption that flags would make faster."""
    yield from _workloads.problems(case, KINDS)


RULE = Rule("CRY008", "GELI or file encryption lacks CPU flags", About.GUEST, check)
