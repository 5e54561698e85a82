"""A backup program encrypts on a CPU that hides what it needs.

## Why it matters

restic and borg encrypt with AES-CTR, kopia with AES-GCM; what they need follows from that and from
the language they are written in. restic, in Go, wants AES, SSE4.1 and SSSE3; borg, with OpenSSL,
AES alone; kopia PCLMULQDQ too. Measured (Go 1.24, AES-256-CTR, Sapphire Rapids): 195 of 5806 MB/s
without AES. Hashing costs as much as that again, and is not judged here. rclone's crypt uses no
AES for data.

## How it decides

It takes programs for encrypted backups that are installed or scheduled. Each workload is judged by
the flags that the guest itself shows, or by its configured CPU where nobody could look inside.
Workloads that fare alike are one finding. Of a program that is only installed or scheduled no run
was seen, so that the severity is medium at most.

The severity is high where it is in use, runs in software and keeps a quarter of its speed or less;
medium where only part of the hardware is used and less than half of the speed is left, where it is
in use and nothing was measured, or where it is set up and its use was not seen; low where it is
closed, only declared, or where the host's silicon itself lacks the flags. In an emulated guest
everything is software whatever the flags: that is said, at medium at most, and CPU004 comes first.

What could not be read inside is skipped, not passed; a guest that nobody looked into gets no
finding here.

## Remedy

`flags=+aes` for borg; for restic where the model shows SSE4.1 and SSSE3 too, else `x86-64-v2-AES`;
for kopia a named model with PCLMULQDQ.

## What fix does

`unmask fix --vm 101 --cpu recommended` plans the smallest CPU that serves the guest's encrypted
work, keeps the other settings of its CPU, and writes it once everything that it costs is
acknowledged.

## When to accept it

Where backups run at night and are done by the morning.

## References

- restic, internal/crypto/crypto.go; BorgBackup, src/borg/crypto/low_level.pyx
- Kopia, repo/encryption
- Figures: src/unmask/crypto/data/SOURCES.md
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.model.case import GuestCase
from unmask.model.finding import About, Problem, Rule
from unmask.model.workload import WorkloadKind
from unmask.rules import _workloads

KINDS = (WorkloadKind.BACKUP,)


def check(case: GuestCase) -> Iterator[Problem]:
    """Yield a problem for encrypted backups that flags would make faster."""
    yield from _workloads.problems(case, KINDS)


RULE = Rule("CRY007", "Encrypted backups lack CPU flags", About.GUEST, check)
