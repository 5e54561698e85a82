"""What the guest itself sees is not what its configuration gives it.

## Why it matters

All advice on CPU models rests on the configuration, or on the command line of the running process,
being what the guest really has. Where the guest, asked inside, lists other flags, something else
decides: it was started before the configuration was changed, a hook script or a raw argument
changes its CPU, it was moved here from another host, or its own kernel was told to overlook flags.
A change of the model may then do nothing, and the next stop and start may change more than anybody
wants.

## How it decides

It holds the flags that the guest's kernel lists against those that follow from the configuration
(the running process where that could be seen). Only instructions are compared that programs ask for
and that the guest's kernel has a word for: AES, PCLMULQDQ, the x86-64 levels and their like. Flags
that depend on a host which is not known, or on the version of QEMU, are left out, and so is what
Windows does not tell. What a kernel was told to overlook (`clearcpuid=`) is named as such: programs
see it all the same. A guest that tells of an architecture which it cannot have is not believed, and
that is said.

The severity is medium where AES or PCLMULQDQ are among the flags, else low. Encrypted workloads are
judged by what the guest sees, here as everywhere. Where the guest was entered and its CPU could not
be read, the check is skipped.

## Remedy

Find out what started the guest: on Proxmox VE compare `qm showcmd VMID --pretty` with the process
(`ps -o args= -p $(cat /run/qemu-server/VMID.pid)`), in libvirt `virsh dumpxml` with and without
`--inactive`. Then decide which of the two is meant, and stop and start the guest.

## What fix does

Nothing: what the guest sees differs from what is configured, and that has to be understood first.

## When to accept it

Where a hook script or `clearcpuid` is meant to do this.

## References

- Linux, Documentation/admin-guide/kernel-parameters.txt, "clearcpuid"
- Linux, arch/x86/kernel/cpu/cpuid-deps.c; proc.c (what /proc/cpuinfo lists)
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.cpu.observed import contradicted
from unmask.model.case import GuestCase
from unmask.model.finding import About, Confidence, Problem, Rule, Severity
from unmask.model.inside import UNASKED, Inside
from unmask.model.reading import Known
from unmask.rules import _advice, _comparable, _scope, _words


def check(case: GuestCase) -> Iterator[Problem]:
    """Yield a problem where the guest sees more or less than it should."""
    inside = _scope.inside(case)
    if inside is None or not _scope.has_cpu(case) or inside.cpu == UNASKED:
        return
    if contradicted(inside.cpu.value.arch, case.guest.arch):
        yield _impossible(case, inside)
    if case.observed is None or not (case.view.x86 and case.observed.x86):
        return
    less = _comparable.missing(case.view, case.observed, inside)
    more = _comparable.surplus(case.view, case.observed)
    if less or more:
        yield _differs(case, inside, less, more)
    overlooked = _overlooked(case, inside)
    if overlooked:
        yield _told(case, inside, overlooked)


def _impossible(case: GuestCase, inside: Inside) -> Problem:
    told = inside.cpu.value.arch
    return Problem(
        severity=Severity.LOW,
        message=_words.about(
            case, f"the guest tells of {told}, which a guest of {case.guest.arch} cannot have"
        ),
        evidence=(
            _words.cpu(case),
            f"The guest was asked by way of {case.guest.visit.by or 'a login'}.",
            "What it tells of its CPU is not believed: the configuration counts instead.",
        ),
        remedy="Look into the guest: what answers there is not what it claims to be.",
        confidence=Confidence.FIRM,
    )


def _overlooked(case: GuestCase, inside: Inside) -> frozenset[str]:
    """Return what the guest's kernel was told to overlook of what the model shows."""
    listed = inside.cpu.value.flags
    return frozenset(
        flag
        for flag in _scope.cleared(case) & _comparable.named(inside)
        if case.view.shows(flag) and flag not in listed
    )


def _differs(
    case: GuestCase, inside: Inside, less: frozenset[str], more: frozenset[str]
) -> Problem:
    parts = [
        *([f"does not see {_words.flags(less)}, which {case.view.label} shows"] if less else []),
        *([f"sees {_words.flags(more)}, which {case.view.label} hides"] if more else []),
    ]
    touched = _advice.BOTH & (less | more)
    return Problem(
        severity=Severity.MEDIUM if touched else Severity.LOW,
        message=_words.about(case, f"the guest {' and '.join(parts)}"),
        evidence=(
            _words.cpu(case),
            f"The guest was asked by way of {case.guest.visit.by or 'a login'}.",
            *_causes(case, inside, less, more),
        ),
        remedy=(
            "Find out what started the guest before anything is changed: its process has the -cpu "
            "that counts. Then decide which CPU is meant, and stop and start the guest."
        ),
        confidence=Confidence.FIRM,
        flags=tuple(sorted(less | more)),
    )


def _causes(
    case: GuestCase, inside: Inside, less: frozenset[str], more: frozenset[str]
) -> Iterator[str]:
    """Yield what may explain it, what is known first."""
    if case.pending and case.pending.shows(*more) and all(map(case.pending.hides, less)):
        yield (
            f"It sees what the change that is pending gives ({case.pending.label}): it seems to "
            "have been restarted since."
        )
    elif case.guest.running is None:
        yield (
            "The running process was not seen: it may have been started before the configuration "
            "was changed."
        )
    else:
        yield (
            "The running process was seen, so that this is no older start: it may have been moved "
            "here from another host, or its command line was not understood."
        )
    host = _scope.known_host_cpu(case)
    if host and "hypervisor" in host.flags and less:
        yield "The host is a guest itself: its own hypervisor may hide what the host lists."
    kernel = inside.kernel_crypto
    if less and isinstance(kernel, Known) and kernel.value.parameters:
        yield f"The guest's kernel was started with {' '.join(kernel.value.parameters)[:300]}."
    yield "Hook scripts, raw arguments and changes by hand are not seen in a configuration."


def _told(case: GuestCase, inside: Inside, overlooked: frozenset[str]) -> Problem:
    kernel = inside.kernel_crypto.value
    names = _words.flags(overlooked)
    return Problem(
        severity=Severity.MEDIUM if _advice.BOTH & overlooked else Severity.LOW,
        message=_words.about(case, f"the guest's kernel is told to overlook {names}"),
        evidence=(
            f"The guest's kernel was started with {' '.join(kernel.parameters)[:300]}.",
            f"{case.view.label} shows {names}, and programs see it: only the kernel goes without.",
            _words.cpu(case),
        ),
        remedy=(
            "In the guest, take clearcpuid off the kernel's command line and restart it; the CPU "
            "model is not the cause."
        ),
        confidence=Confidence.CERTAIN,
        flags=tuple(sorted(overlooked)),
    )


RULE = Rule("CPU012", "The guest sees another CPU than is configured", About.GUEST, check)
