"""Copies over SSH, or encrypted SMB shares, are slower than they need be.

## Why it matters

SSH matters where much is copied: scp, sftp, rsync, zfs send. OpenSSH prefers ChaCha20-Poly1305 by
itself in most releases, which needs vector instructions and no AES. Samba's encryption (SMB 3) is
AES-GCM or AES-CCM by GnuTLS, and every byte of a share that requires it passes through there.

## How it decides

It takes the SSH server with the cipher that it prefers, and Samba where encryption is turned on.
Each workload is judged by the flags that the guest itself shows, or by its configured CPU where
nobody could look inside. Workloads that fare alike are one finding. The severity is low at most:
for an administrator's session nothing of it matters.

What could not be read inside is skipped, not passed; a guest that nobody looked into gets no
finding here.

## Remedy

As the finding says: the smallest model with what the cipher in use needs. In the guest, the order
of `Ciphers` in sshd_config can be changed.

## What fix does

`unmask fix --vm 101 --cpu recommended` plans the smallest CPU that serves the guest's encrypted
work, keeps the other settings of its CPU, and writes it once everything that it costs is
acknowledged.

## When to accept it

Nearly always, where nothing is copied in bulk.

## References

- OpenSSH, myproposal.h; Samba, source3/smbd; GnuTLS, lib/accelerated/x86/x86-common.c
- Figures: src/unmask/crypto/data/SOURCES.md
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.model.case import GuestCase
from unmask.model.finding import About, Problem, Rule, Severity
from unmask.model.workload import WorkloadKind
from unmask.rules import _workloads

KINDS = (WorkloadKind.SSH, WorkloadKind.SAMBA)


def check(case: GuestCase) -> Iterator[Problem]:
    """Yield a problem for SSH and SMB encryption that flags would make faster."""
    yield from _workloads.problems(case, KINDS, Severity.LOW)


RULE = Rule("CRY009", "SSH or SMB encryption lacks CPU flags", About.GUEST, check)
