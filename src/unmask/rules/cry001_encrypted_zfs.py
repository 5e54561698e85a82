"""OpenZFS encrypts datasets on a CPU that hides what its fast code looks for.

## Why it matters

OpenZFS's AES-GCM, its default, needs three flags: AES, PCLMULQDQ and AVX. There is no half-way
code for SSE4.1 in any release. Measured on a Sapphire Rapids with flags masked (OpenZFS 2.4.3,
AES-256-GCM, 128 KiB records):

| the guest sees | MB/s | models |
| --- | --- | --- |
| AES, PCLMULQDQ, AVX | 3148 | SandyBridge and newer, EPYC |
| AES, PCLMULQDQ | 304 | Westmere |
| AES alone | 22 | x86-64-v2-AES, x86-64-v3, x86-64-v4 |
| none of them | 19 | kvm64, qemu64, x86-64-v2 |

So the models that Proxmox VE calls "AES" leave OpenZFS where it was. AES-CCM uses AES alone and
keeps 449 MB/s on those.

## How it decides

It takes the encrypted datasets and volumes that were found in the guest. Each workload is judged
by the flags that the guest itself shows, or by its configured CPU where nobody could look inside.
Workloads that fare alike are one finding. Where the guest's host encrypts, below the disks, the
guest's CPU plays no part and nothing is said.

The severity is high where it is in use, runs in software and keeps a quarter of its speed or less;
medium where only part of the hardware is used and less than half of the speed is left, where it is
in use and nothing was measured, or where it is set up and its use was not seen; low where it is
closed, only declared, or where the host's silicon itself lacks the flags. In an emulated guest
everything is software whatever the flags: that is said, at medium at most, and CPU004 comes first.

What could not be read inside is skipped, not passed; a guest that nobody looked into gets no
finding here.

## Remedy

A named model that shows all three flags and that every node can run; SandyBridge is the smallest
of Intel's, Opteron_G4 of AMD's. Westmere, which is enough for TLS, is not enough here. Proxmox VE
refuses `flags=+pclmulqdq` for a single guest; a custom model may have it, and then needs
`+avx;+xsave` too.

In the guest, new datasets with `encryption=aes-256-ccm` are up to 20 times as fast as GCM without
PCLMULQDQ. Data that is there keeps its cipher; a raw send keeps it too.

## What fix does

`unmask fix --vm 101 --cpu recommended` plans the smallest CPU that serves the guest's encrypted
work, keeps the other settings of its CPU, and writes it once everything that it costs is
acknowledged.

## When to accept it

Where the pool holds little or is slow itself, as on a single hard disk.

## References

- OpenZFS, module/icp/algs/modes/gcm.c (gcm_avx_will_work) and gcm_generic.c; pull request 14531
- Figures: src/unmask/crypto/data/SOURCES.md
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.model.case import GuestCase
from unmask.model.finding import About, Problem, Rule
from unmask.model.workload import WorkloadKind
from unmask.rules import _workloads

KINDS = (WorkloadKind.ZFS,)


def check(case: GuestCase) -> Iterator[Problem]:
    """Yield a problem for encrypted ZFS that flags would make faster."""
    yield from _workloads.problems(case, KINDS)


RULE = Rule("CRY001", "Encrypted ZFS lacks CPU flags", About.GUEST, check)
