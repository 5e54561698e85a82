"""A server in the guest speaks TLS with a library that does not see what its fast code needs.

## Why it matters

Nearly all TLS connections use AES-GCM, which needs two flags: AES and PCLMULQDQ. What happens
without them depends on the library, and more than on the CPU:

| library | with AES but no PCLMULQDQ (x86-64-v2-AES, v3, v4) | TLS 1.3 without being told |
| --- | --- | --- |
| OpenSSL 3.0 | 10 % (431 of 4150 MB/s) | keeps AES |
| Go 1.24 | 4 % (175 of 4332 MB/s) | goes over to ChaCha20 |
| Java 17 | 2.7 % (75 of 2759 MB/s) | keeps AES |
| rustls with ring | ignores AES-NI altogether | keeps AES |
| BoringSSL | AES-NI without its GHASH | goes over to ChaCha20 |
| GnuTLS | AES-NI without its GHASH | keeps AES while it sees AES |

(AES-256-GCM, 16 KiB blocks, Sapphire Rapids with one flag masked.)

## How it decides

It takes servers that were found listening, configured or answering, and databases that use TLS,
each with the library that its process has loaded. Where the library was not recognised, nothing
follows, and the check is skipped. Each workload is judged by the flags that the guest itself
shows, or by its configured CPU where nobody could look inside. Workloads that fare alike are one
finding.

The severity is high where it is in use, runs in software and keeps a quarter of its speed or less;
medium where only part of the hardware is used and less than half of the speed is left, where it is
in use and nothing was measured, or where it is set up and its use was not seen; low where it is
closed, only declared, or where the host's silicon itself lacks the flags. In an emulated guest
everything is software whatever the flags: that is said, at medium at most, and CPU004 comes first.

What could not be read inside is skipped, not passed; a guest that nobody looked into gets no
finding here.

## Remedy

A named model with both flags (Westmere and newer on Intel, EPYC on AMD) or a custom model; `+aes`
alone does little for GCM.

In the guest: ChaCha20-Poly1305 first in the server's order of ciphers, where the finding says that
it is faster. Where the silicon is known to have the flags, OPENSSL_ia32cap can make OpenSSL use
them although they are hidden; the finding gives the value, and what to mind.

## What fix does

`unmask fix --vm 101 --cpu recommended` plans the smallest CPU that serves the guest's encrypted
work, keeps the other settings of its CPU, and writes it once everything that it costs is
acknowledged.

## When to accept it

Where the server's traffic is small: a handshake costs more than the bytes behind it.

## References

- OpenSSL, crypto/modes/gcm128.c, OPENSSL_ia32cap(3)
- Go, crypto/tls/cipher_suites.go; ring, src/aead
- Figures: src/unmask/crypto/data/SOURCES.md
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.model.case import GuestCase
from unmask.model.finding import About, Problem, Rule
from unmask.model.workload import WorkloadKind
from unmask.rules import _workloads

KINDS = (WorkloadKind.TLS, WorkloadKind.DATABASE)


def check(case: GuestCase) -> Iterator[Problem]:
    """Yield a problem for each library of TLS servers that flags would make faster."""
    yield from _workloads.problems(case, KINDS)


RULE = Rule("CRY004", "A TLS server lacks CPU flags", About.GUEST, check)
