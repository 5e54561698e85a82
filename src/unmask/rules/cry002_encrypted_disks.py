"""The guest's kernel encrypts its disks in software, because the CPU hides AES.

## Why it matters

dm-crypt, below LUKS, plain mappings and encrypted swap, uses AES-XTS by default. XTS needs the AES
instructions and nothing else: no PCLMULQDQ, no AVX. Without them the kernel's generic code takes
over, and every read and write of the disk passes through it, on the processors that the guest's
work needs too.

The kernel itself could not be measured with flags masked. OpenSSL in the same mode keeps 2 % of
its rate with the flags of kvm64, 6 % with those of x86-64-v2 (Sapphire Rapids).

## How it decides

It takes open mappings, headers that were found on disks, and entries of crypttab; of a stopped
guest, what the first sectors of its disks say. Each workload is judged by the flags that the guest
itself shows, or by its configured CPU where nobody could look inside. Workloads that fare alike
are one finding. The driver that the kernel really uses (/proc/crypto) outranks the flags; where it
is slow although AES is shown, that is CRY010. Encryption by the host below the disks is not
affected by the guest's CPU.

The severity is high where it is in use, runs in software and keeps a quarter of its speed or less;
medium where only part of the hardware is used and less than half of the speed is left, where it is
in use and nothing was measured, or where it is set up and its use was not seen; low where it is
closed, only declared, or where the host's silicon itself lacks the flags. In an emulated guest
everything is software whatever the flags: that is said, at medium at most, and CPU004 comes first.

What could not be read inside is skipped, not passed; a guest that nobody looked into gets no
finding here.

## Remedy

`flags=+aes` beside the model is enough on Proxmox VE, and `<feature policy='require' name='aes'/>`
in libvirt: nothing else of the guest's CPU changes. `x86-64-v2-AES` does the same. Under Windows
on AMD hosts see CRY003.

In the guest there is no way around it: only another cipher is faster, Adiantum, and that means a
new volume.

## What fix does

`unmask fix --vm 101 --cpu recommended` plans the smallest CPU that serves the guest's encrypted
work, keeps the other settings of its CPU, and writes it once everything that it costs is
acknowledged.

## When to accept it

Where the volume is small or seldom used, as encrypted swap may be.

## References

- Linux, arch/x86/crypto/aesni-intel_glue.c; cryptsetup(8), "benchmark"
- Figures: src/unmask/crypto/data/SOURCES.md
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.model.case import GuestCase
from unmask.model.finding import About, Problem, Rule
from unmask.model.workload import WorkloadKind
from unmask.rules import _workloads

KINDS = (WorkloadKind.LUKS,)


def check(case: GuestCase) -> Iterator[Problem]:
    """Yield a problem for dm-crypt volumes that flags would make faster."""
    yield from _workloads.problems(case, KINDS)


RULE = Rule("CRY002", "Encrypted disks (LUKS, dm-crypt) lack AES", About.GUEST, check)
