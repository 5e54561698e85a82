"""The host's CPU has AES instructions, and the guest's CPU model does not show them.

## Why it matters

Software that encrypts asks the CPU whether it has AES-NI and falls back to tables or bit-slicing
where it does not see the flag. The silicon below makes no difference: what the model hides is not
used. Measured on a Sapphire Rapids with flags masked, OpenSSL 3.0 keeps 2 % of its AES-256-GCM
and AES-256-XTS rate with the flags of kvm64, 5 to 6 % with those of x86-64-v2, and OpenZFS keeps
0.3 % in GCM. XTS is the mode of LUKS and BitLocker.

A hidden flag alone is not an alarm. Where nothing in the guest encrypts, nothing is lost, so the
severity is low. What is seen to encrypt in a guest has findings of its own (CRY001 to CRY009), with
a severity that fits it.

## How it decides

It looks at x86 virtual machines under KVM. It fires where the guest surely does not see `aes` and
the host's own flags have it. PCLMULQDQ is named too where it is hidden as well; hidden alone it
is CPU002. It is silent where the host lacks AES (CPU010), in emulated guests (CPU004), in
containers, which run on the host's CPU, and on other architectures, where the flag means
something else or nothing. Where the model hides AES and the host's flags are not known, the check
is skipped, not passed. A CPU that passes the host through hides nothing, whatever the host is.

A running guest is judged by what it was started with, a stopped one by its configuration. Where
AES has been turned off by name, that was somebody's decision, and the severity is only info.

## Remedy

The smallest model that shows what is needed and that every node can run. On Proxmox VE
`x86-64-v2-AES` shows AES, which is all that LUKS and BitLocker need, but hides PCLMULQDQ. For
TLS, OpenZFS and VPNs in GCM choose a named model with both (Westmere on Intel, EPYC on AMD), or a
custom model in `/etc/pve/virtual-guest/cpu-models.conf`. Proxmox VE refuses `flags=+pclmulqdq` in
a guest's own `cpu` line. `host` shows everything but ties the guest to equal nodes, and Windows
can be slower on it than on a named model. With libvirt, `host-model` shows all that the host has.

## What fix does

`unmask fix --vm 101 --cpu recommended` plans the smallest CPU that serves the guest's encrypted
work, keeps the other settings of its CPU, and writes it once everything that it costs is
acknowledged.

## When to accept it

Where nothing in the guest encrypts in bulk, or where the guest must move to hosts without AES.

## References

- Proxmox VE documentation, qm.adoc, "CPU Type"
- qemu-server, src/PVE/QemuServer/CPUConfig.pm (built-in models) and CPUFlags.pm (per-guest flags)
- OpenSSL, crypto/x86cpuid.pl and OPENSSL_ia32cap(3)
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.errors import UnreadError
from unmask.model.case import GuestCase
from unmask.model.cpu import State
from unmask.model.finding import About, Confidence, Problem, Rule, Severity
from unmask.rules import _advice, _scope, _words, _workloads

COST = (
    "Without AES-NI, OpenSSL keeps 2 % of its AES-256-GCM rate with the flags of kvm64, 5 % with "
    "those of x86-64-v2, and OpenZFS 0.3 % (measured on a Sapphire Rapids with flags masked)."
)


def check(case: GuestCase) -> Iterator[Problem]:
    """Yield a problem where the guest does not see the AES that its host has."""
    if not _scope.on_kvm_x86(case) or _scope.settled(case, "aes") is not State.HIDDEN:
        return
    host = case.host_cpu
    if "aes" not in host.flags:
        if not host.complete:
            raise UnreadError("whether the host's CPU has AES is not known", "its /proc/cpuinfo")
        return
    hidden = [flag for flag in ("aes", "pclmulqdq") if case.view.hides(flag) and flag in host.flags]
    told = case.guest.current.off.intersection(hidden)
    wanted = _workloads.wanted(case)
    flags = wanted | {"aes"} if wanted else _advice.BOTH
    advice = _advice.show(case, flags, unsure=not wanted)
    yield Problem(
        severity=Severity.INFO if told else Severity.LOW,
        message=_words.about(
            case, f"{case.view.label} hides {_words.flags(hidden)}, which {_words.host(case)} has"
        ),
        evidence=(
            _words.cpu(case),
            *([f"The configuration turns {_words.flags(told)} off by name."] if told else []),
            COST,
            _words.looked_for(case),
        ),
        remedy=advice.text,
        command=advice.command,
        confidence=Confidence.CERTAIN if _scope.runs(case) else Confidence.FIRM,
        flags=tuple(hidden),
    )


RULE = Rule("CPU001", "The CPU model hides AES that the host has", About.GUEST, check)
