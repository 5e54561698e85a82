"""The guest sees the flags that encryption needs, and something in the guest does not use them.

## Why it matters

A flag is not its use. A kernel without the module aesni_intel encrypts disks in software on a CPU
that shows AES; a parameter of OpenZFS that was set by hand for a test stays set; aesni(4) of
FreeBSD has to be loaded; and an OPENSSL_ia32cap in the environment of a service hides from OpenSSL
what the CPU has. Changing the CPU model helps in none of these cases.

A well-known recipe for benchmarks, `OPENSSL_ia32cap=~0x200000200000000`, takes away far more than
AES-NI and PCLMULQDQ: without a second number it clears AVX2, BMI, SHA, VAES and AVX-512 too. With
`:~0` behind it, which leaves those alone, it may take away nothing at all: OpenSSL's VAES code for
GCM and XTS asks for neither AES nor PCLMULQDQ. And the bit that the manual page of 3.5 and 3.6
gives for AVX2, `:~0x20000000000`, is that of VAES; AVX2's is `:~0x20`.

## How it decides

It takes what the guest's kernel says that it uses: the drivers in /proc/crypto, OpenZFS's
icp_gcm_impl and icp_aes_impl, GELI's own word, and on FreeBSD that cryptosoft0 has attached and
nothing beside it, as on a pfSense that was not told to load aesni(4). It fires where the flags are
shown and the software code is used all the same. The names that end in -lib prove nothing and are
not taken for software.

For OpenSSL it takes the capabilities that `openssl version -c` prints, and the places where a mask
is set. Where the command itself lacks what the guest sees, that is certain; where a mask was only
found in a file, it is tentative, since it may be meant for one service.

The severity is high for what is in use and encrypts in software. In emulated guests nothing is
said: there the flags make no difference. Where disks are encrypted and the kernel's drivers could
not be read, the check is skipped.

## Remedy

In the guest: load the module and have it loaded at boot, take it off the list of forbidden ones,
set the parameter back to `fastest`, remove the mask. A volume that is open keeps the driver that it
was opened with: close and open it, or restart the guest.

## What fix does

Nothing, least of all inside a guest.

## When to accept it

Where the mask or the parameter is there for a reason, such as a bug in the silicon.

## References

- Linux, arch/x86/crypto/aesni-intel_glue.c; OpenZFS, module/icp/algs/modes/gcm.c; aesni(4)
- OPENSSL_ia32cap(3)
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.crypto.consumers import consumers
from unmask.model.case import GuestCase
from unmask.model.cpu import Accelerator
from unmask.model.finding import About, Confidence, Problem, Rule, Severity
from unmask.model.inside import UNASKED, KernelCrypto
from unmask.model.inside_programs import OpenSsl
from unmask.model.outlook import NoteKind, Outlook, Status
from unmask.model.reading import Known
from unmask.model.workload import Activity, JudgedWorkload, Workload, WorkloadKind
from unmask.rules import _gain, _scope, _words, _workload_words

REOPEN = "A volume that is open keeps its driver until it is opened again."
RUNS = {
    Status.SOFTWARE: "runs in software although the guest sees what it needs",
    Status.PARTIAL: "uses only part of what the guest sees",
}


def check(case: GuestCase) -> Iterator[Problem]:
    """Yield a problem for each thing that does not use what the guest sees."""
    groups: dict[tuple[WorkloadKind, Outlook], list[Workload]] = {}
    for item in case.workloads:
        if item.outlook is not None and item.outlook.noted(NoteKind.UNUSED):
            groups.setdefault((item.workload.kind, item.outlook), []).append(item.workload)
    for (_, outlook), members in groups.items():
        yield _unused(case, outlook, members)
    yield from _masked(case)
    _require_drivers(case)


def _require_drivers(case: GuestCase) -> None:
    """Raise where disks may be encrypted in software and the kernel's drivers were not read."""
    inside = _scope.inside(case)
    if inside is None or inside.crypto_drivers == UNASKED:
        return
    if any(_depends_on_driver(item) for item in case.workloads):
        _ = inside.crypto_drivers.value


def _depends_on_driver(item: JudgedWorkload) -> bool:
    fast = item.outlook is not None and item.outlook.status is Status.HARDWARE
    return item.workload.kind is WorkloadKind.LUKS and fast and not item.workload.driver


def _unused(case: GuestCase, outlook: Outlook, members: list[Workload]) -> Problem:
    active = any(member.activity is Activity.ACTIVE for member in members)
    software = outlook.status is Status.SOFTWARE
    return Problem(
        severity=Severity.HIGH if active and software else Severity.MEDIUM,
        message=_words.about(
            case,
            f"{_workload_words.called(members)} {RUNS[outlook.status]}: it runs on {outlook.how}",
        ),
        evidence=(
            *_workload_words.seen(members),
            *(note.text for note in outlook.noted(NoteKind.UNUSED)),
            *_kernel(case),
        ),
        remedy=_remedy(case, members[0].driver),
        confidence=Confidence.CERTAIN,
        flags=_shown(case, outlook),
    )


def _shown(case: GuestCase, outlook: Outlook) -> tuple[str, ...]:
    """Return the flags that it would use, of which the guest sees all."""
    consumer = consumers()[outlook.consumer]
    view = _scope.seen(case)
    needed = _gain.needed(consumer, outlook.cipher, "")
    return tuple(sorted(flag for flag in needed if view.shows(flag)))


def _kernel_crypto(case: GuestCase) -> KernelCrypto | None:
    inside = _scope.inside(case)
    known = inside is not None and isinstance(inside.kernel_crypto, Known)
    return inside.kernel_crypto.value if inside is not None and known else None


def _kernel(case: GuestCase) -> Iterator[str]:
    kernel = _kernel_crypto(case)
    if kernel is None:
        return
    if kernel.parameters:
        yield f"The kernel's command line says {' '.join(kernel.parameters)[:300]}."
    if kernel.aesni_available is False:
        yield "The kernel has no module aesni_intel."
    elif kernel.aesni_available and not kernel.aesni_built_in:
        loaded = "is loaded" if kernel.loaded("aesni_intel") else "is there and not loaded"
        yield f"The module aesni_intel {loaded}."


def _remedy(case: GuestCase, driver: str) -> str:
    if driver.startswith("icp_"):
        name = driver.partition("=")[0]
        return (
            f"In the guest, set OpenZFS's parameter {name} back: write fastest into "
            f"/sys/module/zfs/parameters/{name} (/sys/module/icp before 2.2), and look for it in "
            "/etc/modprobe.d."
        )
    if "software" in driver or driver == "cryptosoft0":
        again = (
            "detach and attach the provider"
            if "software" in driver
            else "restart what encrypts; on pfSense it is a choice of System, Advanced"
        )
        return (
            'In the guest, load aesni(4): kldload aesni now, aesni_load="YES" in '
            f"/boot/loader.conf for good; then {again}."
        )
    kernel = _kernel_crypto(case)
    forbidden = [word for word in kernel.parameters if "aesni" in word] if kernel else []
    if forbidden:
        return (
            f"In the guest, take {_words.few(forbidden)} off the kernel's command line and "
            "restart it."
        )
    if kernel and kernel.aesni_available is False:
        return (
            "In the guest, install a kernel that has the module aesni_intel, or the package that "
            "brings its modules, and restart it."
        )
    return (
        "In the guest, load the module: modprobe aesni_intel now, and a line in "
        f"/etc/modules-load.d (and the initial RAM disk) for good. {REOPEN}"
    )


def _masked(case: GuestCase) -> Iterator[Problem]:
    """Yield that OpenSSL is kept from what the guest sees."""
    openssl, word, view = _gain.openssl(case), _gain.capabilities(case), _scope.seen(case)
    if openssl is None or not view.x86 or view.accelerator is Accelerator.TCG:
        return
    shown = {flag: bit for flag, bit in _gain.CAPABILITIES.items() if view.shows(flag)}
    hidden = sorted(flag for flag, bit in shown.items() if word is not None and not word >> bit & 1)
    if not hidden and not (openssl.masks and {"aes", "pclmulqdq"} <= shown.keys()):
        return
    served = [item.workload for item in case.workloads if _by_openssl(item.workload)]
    yield Problem(
        severity=Severity.MEDIUM if hidden and served else Severity.LOW,
        message=_words.about(case, _what(openssl, hidden)),
        evidence=(*_places(openssl, hidden), *_workload_words.seen(served[:3])),
        remedy=(
            f"In the guest, remove OPENSSL_ia32cap{_where(openssl)} and restart what was started "
            "with it, unless it is there for a reason."
        ),
        confidence=Confidence.CERTAIN if hidden else Confidence.TENTATIVE,
        flags=tuple(hidden),
    )


def _by_openssl(workload: Workload) -> bool:
    consumer = consumers().get(workload.consumer)
    return consumer is not None and not workload.host_side and _gain.uses_openssl(consumer)


def _what(openssl: OpenSsl, hidden: list[str]) -> str:
    if hidden:
        return f"OpenSSL does not see {_words.flags(hidden)}, which the guest's CPU shows"
    return f"OPENSSL_ia32cap is set in {_words.few(openssl.masks)}, and may hide instructions"


def _places(openssl: OpenSsl, hidden: list[str]) -> Iterator[str]:
    if hidden:
        yield f"openssl version -c prints {openssl.capabilities}."
    if openssl.masks:
        yield f"OPENSSL_ia32cap or its like is set in {_words.few(openssl.masks)}."
    if hidden and not openssl.masks:
        yield "Where it is set was not found: it may come with the login or the session."


def _where(openssl: OpenSsl) -> str:
    return f" from {_words.few(openssl.masks)}" if openssl.masks else ""


RULE = Rule("CRY010", "What the guest sees is not used", About.GUEST, check)
