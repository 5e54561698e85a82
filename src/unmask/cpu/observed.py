"""What a guest itself says that it sees of its CPU, as a `FeatureView`.

A flag that the guest lists is shown. One that it does not list is hidden only where its kernel
would have listed it: Linux has no word for some (`spec-ctrl`, `sha512`), FreeBSD for others. A
kernel that was told to do without a flag (`clearcpuid=`) leaves it out of its list, and programs
see it all the same, since they ask the CPU: `cleared` tells which flags that are. (An old kernel
has no word for a younger flag either. That is not looked at: what it has no word for, the software
of its age does not use.)
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from unmask.cpu import levels
from unmask.cpu.draft import X86
from unmask.cpu.features import canonical, unlisted
from unmask.model.cpu import Accelerator, FeatureView, HostCpu, State

_NUMBER_LIMIT = 64
"""Flags that one kernel's command line is believed to name."""

_WORDS: dict[int, dict[int, str]] = {
    4: {
        0: "pni", 1: "pclmulqdq", 9: "ssse3", 12: "fma", 13: "cx16", 17: "pcid", 19: "sse4_1",
        20: "sse4_2", 21: "x2apic", 22: "movbe", 23: "popcnt", 25: "aes", 26: "xsave", 28: "avx",
        29: "f16c", 30: "rdrand",
    },
    5: {
        2: "rng", 3: "rng_en", 6: "ace", 7: "ace_en", 8: "ace2", 9: "ace2_en", 10: "phe",
        11: "phe_en", 12: "pmm", 13: "pmm_en",
    },
    6: {5: "abm", 6: "sse4a", 11: "xop", 16: "fma4"},
    9: {
        3: "bmi1", 5: "avx2", 7: "smep", 8: "bmi2", 9: "erms", 10: "invpcid", 16: "avx512f",
        17: "avx512dq", 18: "rdseed", 19: "adx", 20: "smap", 21: "avx512ifma", 28: "avx512cd",
        29: "sha_ni", 30: "avx512bw", 31: "avx512vl",
    },
    16: {
        1: "avx512vbmi", 2: "umip", 3: "pku", 6: "avx512_vbmi2", 8: "gfni", 9: "vaes",
        10: "vpclmulqdq", 11: "avx512_vnni", 12: "avx512_bitalg", 14: "avx512_vpopcntdq",
    },
}  # fmt: skip
"""Linux's numbers of CPUID's bits, 32 a word (arch/x86/include/asm/cpufeatures.h)."""

_DEPENDENTS = {
    "xsave": ("avx", "mpx", "pku", "xgetbv1", "xsavec", "xsaveopt", "xsaves"),
    "avx": ("avx2", "avx512f", "fma", "vaes", "vpclmulqdq"),
    "avx512f": (
        "avx512bw", "avx512cd", "avx512dq", "avx512ifma", "avx512vl", "avx512vbmi",
        "avx512_vpopcntdq",
    ),
    "avx512vl": ("avx512_vbmi2", "avx512_vnni", "avx512_bitalg"),
}  # fmt: skip
"""What Linux leaves out with a flag (arch/x86/kernel/cpu/cpuid-deps.c)."""

_STATES = frozenset(("xsave", "avx", "avx512f"))
"""Without these a kernel does not turn on the registers (arch/x86/kernel/fpu/xstate.c), so that
programs, which ask for that, do without them too."""


def view(
    cpu: HostCpu, accelerator: Accelerator, label: str, *, kernel: str = "Linux", model: str = ""
) -> FeatureView:
    """Return the view of a guest whose kernel lists the flags of `cpu`.

    Args:
        cpu: As it was read in the guest.
        accelerator: What runs its instructions.
        label: What to call the CPU.
        kernel: The kernel's name, as `uname -s` says it.
        model: QEMU's model behind it where that is known.
    """
    x86 = cpu.arch in X86
    states = dict.fromkeys(cpu.flags, State.SHOWN)
    if x86 and cpu.complete:
        states |= dict.fromkeys(unlisted(kernel) - cpu.flags, State.UNKNOWN)
    reached = levels.level(cpu.flags) if x86 else None
    return FeatureView(
        arch=cpu.arch,
        accelerator=accelerator,
        label=label,
        model=model,
        vendor=cpu.vendor,
        states=states,
        rest=State.HIDDEN if cpu.complete else State.UNKNOWN,
        level=reached if cpu.complete else reached or None,
        level_certain=x86 and (cpu.complete or reached == max(levels.LEVELS)),
        steps=("the guest itself lists these flags",),
    )


def contradicted(told: str, configured: str) -> bool:
    """Return whether a guest tells of an architecture that it cannot have.

    A kernel of 32 bits is no contradiction to a machine of 64.
    """
    kinds = {_kind(told), _kind(configured)} - {""}
    return len(kinds) > 1


def _kind(arch: str) -> str:
    if arch in X86:
        return "x86"
    return "arm" if arch.startswith(("arm", "aarch64")) else arch


@lru_cache(maxsize=512)
def cleared(parameters: tuple[str, ...]) -> frozenset[str]:
    """Return the flags that a Linux kernel leaves out of its list on x86, and programs still see.

    Args:
        parameters: Words of its command line: "clearcpuid=129", "clearcpuid=pclmulqdq,153".
    """
    named: list[str] = []
    for word in parameters:
        name, _, values = word.partition("=")
        if name == "clearcpuid":
            named += values.split(",")
    found = {flag for text in named[:_NUMBER_LIMIT] if (flag := _flag(text))}
    return frozenset(_with_dependents(found - _STATES) - _with_dependents(found & _STATES))


def _with_dependents(flags: set[str]) -> set[str]:
    found = set(flags)
    waiting = list(flags)
    while waiting:
        more = [flag for flag in _DEPENDENTS.get(waiting.pop(), ()) if flag not in found]
        found.update(more)
        waiting += more
    return found


def _flag(text: str) -> str:
    """Return the flag of a number, or of a name (Linux 5.18 and later); "" for none known."""
    if re.fullmatch(r"\d{1,4}", text, re.ASCII):
        word, bit = divmod(int(text), 32)
        return _WORDS.get(word, {}).get(bit, "")
    return canonical(text) if re.fullmatch(r"[a-z]\w{1,40}", text, re.ASCII) else ""


def with_hidden(seen: FeatureView, hidden: Iterable[str], resolved: FeatureView) -> FeatureView:
    """Return what programs see: the kernel's list, and `resolved` for what it was told to hide."""
    changed = {flag: resolved.state(flag) for flag in hidden if not seen.shows(flag)}
    if not changed:
        return seen
    step = f"its kernel was told to leave these out of its list: {', '.join(sorted(changed))}"
    states = {**seen.states, **changed}
    if not seen.x86:
        return replace(seen, states=states, steps=(*seen.steps, step))
    sure = levels.level([flag for flag, state in states.items() if state is State.SHOWN])
    decided = set(changed.values()) <= {State.SHOWN, State.HIDDEN}
    return replace(
        seen,
        states=states,
        level=sure,
        level_certain=seen.level_certain and decided,
        steps=(*seen.steps, step),
    )


def filled(seen: FeatureView, resolved: FeatureView) -> FeatureView:
    """Return the view with what the guest's list leaves open decided by `resolved`.

    Windows tells few of its flags or none, and no kernel has a word for every flag.
    """
    if seen.arch != resolved.arch:
        return seen
    known = {flag: state for flag, state in seen.states.items() if state is not State.UNKNOWN}
    if seen.rest is not State.UNKNOWN:
        asked = [flag for flag, state in seen.states.items() if state is State.UNKNOWN]
        return replace(
            seen, states={**seen.states, **{flag: resolved.state(flag) for flag in asked}}
        )
    return replace(
        seen,
        states={**resolved.states, **known},
        rest=resolved.rest,
        level=resolved.level,
        level_certain=resolved.level_certain,
        steps=(*seen.steps, "what it does not list is taken from its configuration"),
    )
