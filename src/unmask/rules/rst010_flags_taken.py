"""The change takes flags from the guest.

## Why it matters

Programs that were built for this CPU (`-march=native`, some databases and machine learning
libraries) die of an illegal instruction when a flag is gone, and cryptography may fall back to
slower code.

## How it decides

It fires where the guest sees instructions now that it surely will not see with the new CPU: those
of the x86-64 levels, for cryptography, random numbers and AVX-512. Flags that only a kernel looks
at do not count, and `vmx` and `svm` are RST004's. Where what the new CPU shows is not known, RST006
says so.

## Remedy

Take a model that has them, or add them.

## What fix does

It lists them in the plan.

## When to accept it

Where nothing in the guest was built for this very CPU.

## References

- x86-64 psABI, micro-architecture levels
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.cpu import levels
from unmask.model.change_case import ChangeCase
from unmask.model.finding import About, Problem, Rule
from unmask.rules import _changes, _words

OTHERS = frozenset(
    {"adx", "aes", "gfni", "pclmulqdq", "rdrand", "rdseed", "sha_ni", "vaes", "vpclmulqdq"}
)
"""Flags beyond the x86-64 levels whose instructions programs execute."""


def check(change: ChangeCase) -> Iterator[Problem]:
    """Yield a problem where flags are taken from the guest."""
    if not _changes.is_vm(change) or not change.then.view.starts:
        return
    lost = frozenset(filter(_executed, _changes.taken(change)))
    if lost:
        names = _words.flags(lost, change.now.view.arch)
        yield _changes.told(
            f"The guest no longer sees {names}: programs built for "
            f"{'it' if len(lost) == 1 else 'them'} may die.",
            "Take a model that has what the guest uses.",
            flags=lost,
        )


def _executed(flag: str) -> bool:
    """Return whether programs execute what a flag announces."""
    return flag in OTHERS or flag in levels.lacking(4, ()) or flag.startswith("avx")


RULE = Rule("RST010", "The change takes flags from the guest", About.CHANGE, check)
