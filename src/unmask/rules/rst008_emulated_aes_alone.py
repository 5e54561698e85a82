"""An emulated guest with AES alone breaks: its software takes other instructions for granted.

## Why it matters

QEMU's emulation refuses instructions whose flag is not shown. Software that finds `aes` uses
PCLMULQDQ, SSSE3 and SSE4.1 beside it without asking: with `qemu64` and `aes` alone, OpenSSL 3 dies
of an illegal instruction (`pinsrd`), the SSH server with it, and the kernel fails (seen on QEMU
7.2). Under KVM the silicon usually executes them all the same; this rule says nothing there.

## How it decides

It fires for guests that QEMU emulates where the new CPU shows `aes` and hides one of `pclmulqdq`,
`ssse3` and `sse4_1`. This cannot be taken on.

## Remedy

Add the others too (`+aes,+pclmulqdq,+ssse3,+sse4.1,+sse4.2,+popcnt`), or take a whole model such as
Westmere.

## What fix does

It refuses.

## When to accept it

It cannot be accepted.

## References

- OpenSSL, crypto/aes/asm/aesni-x86_64.pl
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.model.change_case import ChangeCase
from unmask.model.cpu import Accelerator
from unmask.model.finding import About, Problem, Rule
from unmask.rules import _changes, _words

BESIDE = frozenset({"pclmulqdq", "sse4_1", "ssse3"})


def check(change: ChangeCase) -> Iterator[Problem]:
    """Yield a problem where an emulated guest would see AES alone."""
    view = change.then.view
    if not _changes.is_vm(change) or view.accelerator is not Accelerator.TCG or not view.x86:
        return
    hidden = frozenset(flag for flag in BESIDE if view.hides(flag))
    if view.shows("aes") and hidden:
        yield _changes.told(
            f"QEMU emulates this guest: with AES and without {_words.flags(hidden)} its OpenSSL "
            "and its kernel die of illegal instructions.",
            "Take --cpu +aes,+pclmulqdq,+ssse3,+sse4.1,+sse4.2,+popcnt, or a whole model.",
            flags=hidden,
            fatal=True,
        )


RULE = Rule("RST008", "AES alone breaks an emulated guest", About.CHANGE, check)
