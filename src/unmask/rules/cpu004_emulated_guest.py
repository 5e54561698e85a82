"""QEMU emulates the guest's CPU instead of letting KVM run it.

## Why it matters

Under emulation (TCG) every instruction of the guest is translated in software. That costs far
more than any choice of a CPU model: look at it first, before any advice on models. All other
rules on CPU models stay silent for emulated guests.

Some models are dangerous there. The kernel's `aesni_intel` binds wherever it sees `aes` and then
executes PCLMULQDQ, SSSE3 and SSE4.1 without asking. Silicon executes hidden instructions anyway,
but the emulator refuses them: Linux 6.1, 6.12, 6.18 and 7.3 stop with an oops (invalid opcode) in
a guest that shows `aes` without `pclmulqdq`, which is what `x86-64-v2-AES` is. `x86-64-v3`, which
has `xsave` without `xsaveopt`, hangs Linux at boot.

## How it decides

It fires for every virtual machine whose accelerator is QEMU's TCG, on any architecture. The
severity is medium where the configuration chose it (`kvm: 0`, `type='qemu'`), info where the
guest's architecture differs from the host's, so that nothing but emulation is possible, or is not
x86 while the host is not known, and high where the guest's flags are one of the two dangerous
combinations. What runs the guest being unknown, the check is skipped.

## Remedy

Let KVM run the guest: on Proxmox VE delete `kvm: 0`, in libvirt use `<domain type='kvm'>`. If KVM
is missing on the host, turn on VT-x or AMD-V in its firmware, or nested virtualisation where the
host is itself a guest. Where emulation is wanted, choose a model that shows no AES (`qemu64`), or
all of the four (`max`, Westmere).

## What fix does

Nothing: whether KVM runs a guest is no matter of its CPU model.

## When to accept it

For guests of another architecture, and for short tests.

## References

- Measured with QEMU 7.2 to 11.1 and the kernels named above
- Linux, arch/x86/crypto/aesni-intel_glue.c; QEMU, target/i386/cpu.h, cr4_reserved_bits()
"""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from unmask.errors import UnreadError
from unmask.model.case import GuestCase
from unmask.model.cpu import Accelerator, FeatureView
from unmask.model.finding import About, Confidence, Problem, Rule, Severity
from unmask.model.inventory import Platform
from unmask.rules import _commands, _scope, _words

UNCHECKED = ("pclmulqdq", "sse4_1", "ssse3")
"""What aesni_intel executes wherever it sees `aes`."""
PAIR = frozenset({"x86_64", "i686"})
"""KVM on x86_64 runs i686 guests as well."""


def check(case: GuestCase) -> Iterator[Problem]:
    """Yield a problem where the guest is emulated."""
    if not _scope.has_cpu(case):
        return
    if case.view.accelerator is Accelerator.UNKNOWN:
        raise UnreadError("whether KVM or an emulator runs the guest is not known")
    if case.view.accelerator is not Accelerator.TCG:
        return
    host_arch = _host_arch(case)
    foreign = host_arch not in ("", case.view.arch) and {host_arch, case.view.arch} != PAIR
    needed = foreign or _perhaps_needed(case, host_arch)
    missing = missing_beside_aes(case.view)
    hangs = hangs_at_boot(case.view)
    severity = Severity.INFO if needed else Severity.MEDIUM
    yield Problem(
        severity=Severity.HIGH if missing or hangs else severity,
        message=_words.about(case, _message(case, missing, hangs=hangs)),
        evidence=(*_evidence(case, host_arch, foreign=foreign), *_hazards(missing, hangs=hangs)),
        remedy=_remedy(case, host_arch, foreign=foreign, hazard=bool(missing) or hangs),
        command="" if needed else _command(case),
        confidence=Confidence.FIRM,
        flags=missing,
    )


def missing_beside_aes(view: FeatureView) -> tuple[str, ...]:
    """Return what an emulated guest lacks although it shows AES, sorted."""
    if not view.x86 or not view.shows("aes"):
        return ()
    return tuple(flag for flag in UNCHECKED if view.hides(flag))


def hangs_at_boot(view: FeatureView) -> bool:
    """Return whether Linux hangs at boot: XSAVE without any of its later additions."""
    additions = ("xsaveopt", "xsavec", "xgetbv1", "xsaves")
    return view.x86 and view.shows("xsave") and all(view.hides(flag) for flag in additions)


def _host_arch(case: GuestCase) -> str:
    cpu = _scope.known_host_cpu(case)
    return cpu.arch if cpu else ""


def _perhaps_needed(case: GuestCase, host_arch: str) -> bool:
    """Return whether the host, which is not known, is likely to be of another architecture."""
    return not host_arch and case.view.arch not in PAIR


def _message(case: GuestCase, missing: tuple[str, ...], *, hangs: bool) -> str:
    text = "the guest is emulated (TCG), which is slower than any CPU model could make it"
    if missing:
        return (
            f"{text}, and {case.view.label} shows AES without {_words.flags(missing)}: Linux oopses"
        )
    if hangs:
        return f"{text}, and {case.view.label} shows XSAVE without XSAVEOPT: Linux hangs at boot"
    return text


def _evidence(case: GuestCase, host_arch: str, *, foreign: bool) -> Iterator[str]:
    if foreign:
        yield (
            f"The guest's architecture is {case.view.arch} and the host's is {host_arch}: "
            "only emulation can run it."
        )
    elif host_arch:
        yield f"Guest and host are both {case.view.arch}, so KVM could run it."
    else:
        yield "The host's CPU is not known, so that emulation may be a necessity."
    yield _words.cpu(case)


def _hazards(missing: tuple[str, ...], *, hangs: bool) -> Iterator[str]:
    if missing:
        yield (
            "aesni_intel and OpenSSL execute these instructions wherever they see aes, and TCG "
            "refuses instructions that the model hides (oops seen on Linux 6.1 to 7.3)."
        )
    if hangs:
        yield "Linux 6.1 and 6.18 hang at boot under TCG with xsave but without xsaveopt."


def _remedy(case: GuestCase, host_arch: str, *, foreign: bool, hazard: bool) -> str:
    if _waits(case):
        return _commands.WAITS
    safe = " Until then use qemu64, which shows no AES, or max." if hazard else ""
    if foreign:
        return f"Nothing on this host can run it faster.{safe.replace('Until then use', 'Use')}"
    if _perhaps_needed(case, host_arch):
        return (
            f"Only a host of {case.view.arch} can run it faster, and whether its own is one is "
            "not known."
        )
    if _by_arguments(case):
        return f"Remove the accelerator tcg from args, then stop and start the guest.{safe}"
    if case.guest.platform is Platform.PROXMOX:
        return f"Delete kvm: 0, then stop and start the guest.{safe}"
    return f"Use <domain type='kvm'>, then shut the guest down and start it.{safe}"


def _waits(case: GuestCase) -> bool:
    later = _scope.restart_brings(case)
    return later is not None and later.accelerator is Accelerator.KVM


def _by_arguments(case: GuestCase) -> bool:
    """Return whether it is raw arguments that choose TCG."""
    return dict(_commands.next_spec(case).properties).get("accel") == "tcg"


def _command(case: GuestCase) -> str:
    if _by_arguments(case):
        return ""
    if _waits(case):
        return _commands.restart(case)
    if case.guest.platform is Platform.PROXMOX:
        return f"qm set {quote(case.guest.ident)} --delete kvm"
    return _commands.edit(case)


RULE = Rule("CPU004", "The guest is emulated", About.GUEST, check)
