"""A machine whose hypervisor is out of reach sees no AES, or AES without PCLMULQDQ.

## Why it matters

A rented server encrypts with what its provider's CPU model shows. A generic model (`QEMU Virtual
CPU`, `Common KVM processor`) hides AES from the guest although nearly every server since 2012 has
it, and TLS, VPNs and encrypted disks run at a few percent of their speed. The customer can do
nothing about it but ask, and an answer comes sooner where the question names what is missing and
how that was seen.

## How it decides

It looks at machines that were audited by `ssh://` alone. It fires where the machine surely does
not see `aes`, or sees it without `pclmulqdq` (on ARM: `aes`, `pmull`). The name that the CPU shows
tells what is below:

| the name | what it tells |
| --- | --- |
| QEMU Virtual CPU, Common KVM processor, "Intel Core Processor (Haswell ...)" | a model of QEMU's |
| Intel(R) Xeon(R) ... v2 and newer, Xeon Scalable, EPYC, Ryzen | silicon that always has AES |
| another maker's name | silicon that may have it or not |
| anything else | a name that the provider chose |

No x86 CPU has AES without PCLMULQDQ, so that a machine that sees the one alone has it hidden for
sure. The severity is medium without AES, low without PCLMULQDQ alone, and info where no hypervisor
shows itself: then the CPU has none, or the firmware turned it off. What encrypts on the machine has
findings of its own (CRY). Where its CPU could not be read, or does not tell (Windows without
PowerShell 7), the check is skipped. CPU001 and the other rules on configurations say nothing here,
since nobody sees one.

## Remedy

Ask the provider for the CPU type `host`, or a named model with AES and PCLMULQDQ (on Proxmox VE
Westmere, SandyBridge, Haswell or EPYC; `x86-64-v2-AES` is enough for disks only), or for another
product. A name of silicon that always has AES is the best argument.

## What fix does

Nothing: nothing can be changed from inside.

## When to accept it

Where nothing on the machine encrypts in bulk.

## References

- QEMU, target/i386/cpu.c, model-id of each model
- Linux, arch/x86/crypto/aes-gcm-aesni-x86_64.S, on AES-NI without PCLMULQDQ
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.cpu import shown_name
from unmask.errors import UnreadError
from unmask.model.case import GuestCase
from unmask.model.cpu import HostCpu, Mode
from unmask.model.finding import About, Confidence, Problem, Rule, Severity
from unmask.model.inside import Inside
from unmask.model.inventory import Platform
from unmask.model.reading import Known
from unmask.rules import _out_of_reach, _scope, _words

WANTED = {"x86_64": ("aes", "pclmulqdq"), "i686": ("aes", "pclmulqdq"), "aarch64": ("aes", "pmull")}


def check(case: GuestCase) -> Iterator[Problem]:
    """Yield a problem where the machine sees less than it needs for AES-GCM."""
    inside = _scope.inside(case)
    if case.guest.platform is not Platform.UNSEEN or inside is None:
        return
    cpu = inside.cpu.value
    view = _scope.seen(case)
    wanted = WANTED.get(view.arch, ())
    hidden = tuple(flag for flag in wanted if view.hides(flag))
    if hidden:
        yield _problem(case, inside, cpu, hidden)
        return
    open_ = [flag for flag in wanted if not view.shows(flag)]
    if open_:
        names = _words.flags(open_, view.arch)
        raise UnreadError(f"whether the machine sees {names} is not known", "PowerShell 7 in it")


def _problem(case: GuestCase, inside: Inside, cpu: HostCpu, hidden: tuple[str, ...]) -> Problem:
    names = _words.flags(hidden, cpu.arch)
    physical = _out_of_reach.physical(case)
    sure = "aes" not in hidden or _always(cpu)
    severity = Severity.MEDIUM if "aes" in hidden else Severity.LOW
    called = f" ({cpu.model_name})" if cpu.model_name else ""
    return Problem(
        severity=Severity.INFO if physical else severity,
        message=f"the machine does not see {names}{called}{_who(case, cpu, hidden)}",
        evidence=(
            f"Its list of {len(cpu.flags)} flags does not have {' or '.join(hidden)}.",
            *(f"{step[:1].upper()}{step[1:]}." for step in case.guest.configured.steps),
            *_silicon(cpu, hidden),
            *_platform(inside),
            *(remark.text for remark in case.guest.remarks),
            _words.looked_for(case),
        ),
        remedy=_out_of_reach.explained(case, frozenset(hidden)),
        confidence=Confidence.CERTAIN if sure else Confidence.FIRM,
        flags=tuple(sorted(hidden)),
    )


def _always(cpu: HostCpu) -> bool:
    return shown_name.surely_has_aes(cpu.model_name)


def _who(case: GuestCase, cpu: HostCpu, hidden: tuple[str, ...]) -> str:
    """Return who hides it, as far as the CPU's name tells."""
    if _out_of_reach.physical(case):
        return ", and no hypervisor is seen that could hide it"
    it = "it" if len(hidden) == 1 else "them"
    spec = case.guest.configured
    if spec.mode is Mode.MODEL:
        return f": its CPU is {spec.label}, a model of QEMU's that hides {it}"
    if "aes" not in hidden or _always(cpu):
        return f": its provider's hypervisor hides {it}"
    return ""


def _silicon(cpu: HostCpu, hidden: tuple[str, ...]) -> Iterator[str]:
    if "aes" not in hidden and cpu.arch != "aarch64":
        yield "No x86 CPU has AES without PCLMULQDQ: something hides it."
    elif _always(cpu):
        yield f"Every {cpu.model_name} has AES; firmware or hypervisor hide it."
    elif shown_name.is_silicon(cpu.model_name):
        yield "Whether silicon of this name has AES is not known here."


def _platform(inside: Inside) -> Iterator[str]:
    if not isinstance(inside.virtualisation, Known):
        return
    seen = inside.virtualisation.value
    made = " ".join(word for word in (seen.vendor, seen.product) if word)
    if made:
        yield f"Its firmware calls the machine {made}."
    if seen.detected and seen.detected != "none":
        yield f"It detects the hypervisor {seen.detected}."


RULE = Rule("CPU013", "A rented machine sees no AES", About.GUEST, check)
