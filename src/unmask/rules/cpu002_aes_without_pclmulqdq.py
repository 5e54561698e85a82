"""The guest sees AES but not PCLMULQDQ, so AES-GCM is slow although "AES is there".

## Why it matters

AES-GCM, the mode of TLS, OpenVPN, IPsec, SMB and of OpenZFS's default, needs two things: AES and
a carry-less multiplication, PCLMULQDQ. Three models show the one without the other, and they are
the ones that Proxmox VE offers by default: `x86-64-v2-AES`, `x86-64-v3` and `x86-64-v4`. No model
that QEMU itself defines does that. `kvm64` or `qemu64` with `+aes` is the same case.

Measured on one machine (Sapphire Rapids) with and without this one flag:

| software | AES-256-GCM rate that is left |
| --- | --- |
| OpenSSL 3.0 | 10 % (431 of 4150 MB/s) |
| Go 1.24 | 4 % (175 of 4332 MB/s) |
| Java 17 | 2.7 % (75 of 2759 MB/s) |
| OpenZFS 2.4 | 0.7 % (22 of 3148 MB/s) |

XTS (LUKS, BitLocker), CBC and CTR do not use it and lose nothing; nor does ChaCha20 (WireGuard).
The Linux kernel's own GCM uses PCLMULQDQ without asking, so that IPsec and kTLS stay fast under
KVM while OpenSSL in the same guest does not. ring (rustls) ignores AES-NI altogether without
PCLMULQDQ.

## How it decides

It looks at x86 virtual machines under KVM. It fires where the guest surely sees `aes`, surely
does not see `pclmulqdq`, and the host's own flags have it. If the host's flags are not known the
check is skipped. Emulated guests are CPU004's, where the same pair is dangerous rather than slow.

## Remedy

The flag cannot be added in a guest's `cpu` line on Proxmox VE: `flags=+pclmulqdq` is refused. Use
a named model of at least the same level (Westmere, SandyBridge, Haswell-noTSX ... on Intel, EPYC
on AMD), or a custom model. This stanza in `/etc/pve/virtual-guest/cpu-models.conf` is
`x86-64-v2-AES` with the missing flag:

    cpu-model: v2-gcm
        flags +popcnt;+pni;+sse4.1;+sse4.2;+ssse3;+aes;+pclmulqdq
        reported-model qemu64

`host` also shows it, at the price of migration between unequal nodes.

## What fix does

`unmask fix --vm 101 --cpu recommended` plans the smallest CPU that serves the guest's encrypted
work, keeps the other settings of its CPU, and writes it once everything that it costs is
acknowledged.

## When to accept it

Where the guest encrypts disks only (LUKS, BitLocker), or uses ChaCha20, or nothing at all.

## References

- qemu-server, src/PVE/QemuServer/CPUConfig.pm, built-in models (unchanged since PVE 8.0)
- OpenZFS, module/icp/algs/modes/gcm_pclmulqdq.c
- A report from the field: gocryptfs issue 822 (Go at 197 MB/s against 4933 MB/s on the host)
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.errors import UnreadError
from unmask.model.case import GuestCase
from unmask.model.cpu import State
from unmask.model.finding import About, Confidence, Problem, Rule, Severity
from unmask.rules import _advice, _scope, _words, _workloads

COST = (
    (
        "Without PCLMULQDQ, AES-256-GCM keeps 10 % of its rate in OpenSSL, 4 % in Go and 0.7 % in "
        "OpenZFS (measured on a Sapphire Rapids with only this flag masked)."
    ),
    "AES-XTS (LUKS, BitLocker), CBC and CTR are not affected.",
)


def check(case: GuestCase) -> Iterator[Problem]:
    """Yield a problem where the guest sees AES without the PCLMULQDQ that its host has."""
    if not _scope.on_kvm_x86(case) or _scope.settled(case, "pclmulqdq") is not State.HIDDEN:
        return
    if _scope.settled(case, "aes") is State.HIDDEN:
        return
    host = case.host_cpu
    if "pclmulqdq" not in host.flags:
        if not host.complete:
            raise UnreadError("whether the host's CPU has PCLMULQDQ is not known", "/proc/cpuinfo")
        return
    if not case.view.shows("aes"):
        raise UnreadError("whether the guest sees AES depends on the host", "the host's flags")
    told = "pclmulqdq" in case.guest.current.off
    wanted = _workloads.wanted(case)
    advice = _advice.show(case, wanted | _advice.BOTH, unsure=not wanted)
    yield Problem(
        severity=Severity.INFO if told else Severity.LOW,
        message=_words.about(
            case,
            f"{case.view.label} shows AES-NI but hides PCLMULQDQ, which {_words.host(case)} has",
        ),
        evidence=(
            _words.cpu(case),
            *COST,
            *_special(case, told),
            *([_words.looked_for(case)] if case.guest.visit.inside.known else []),
        ),
        remedy=advice.text,
        command=advice.command,
        confidence=Confidence.CERTAIN if _scope.runs(case) else Confidence.FIRM,
        flags=("pclmulqdq",),
    )


def _special(case: GuestCase, told: bool) -> Iterator[str]:  # noqa: FBT001 - one of several facts
    if told:
        yield "The configuration turns PCLMULQDQ off by name."
    if case.view.hides("sse4_1"):
        yield (
            "SSE4.1 is hidden as well, and without it FreeBSD's aesni(4) (pfSense, OPNsense, "
            "TrueNAS CORE) does not attach to AES at all."
        )
    qemu64 = case.view.model in ("qemu64", "kvm64")
    if _scope.windows(case) and qemu64 and case.host_cpu.vendor == "AuthenticAMD":
        yield (
            "Windows may ignore AES here altogether: SymCrypt turns it off on AMD CPUs of a family "
            "below 15h, and this model is of family 0Fh (read in its source, not tested)."
        )


RULE = Rule("CPU002", "AES is shown without PCLMULQDQ", About.GUEST, check)
