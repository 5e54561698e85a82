"""Windows notices another CPU: activation, virtualisation-based security, AES on AMD.

## Why it matters

Windows counts the processor among the hardware that its activation is bound to. A model that passes
the host through also shows it the flags for nested virtualisation: Windows can then start its own
hypervisor (VBS, memory integrity), and everything in the guest becomes slower, which is why a named
model is better for it. And on AMD, Windows ignores the AES flag of a CPU whose family is below 15h,
as that of kvm64 and of Proxmox VE's own models x86-64-v2-AES to v4 is.

## How it decides

It fires for virtual machines that are Windows, as they say themselves or as they are declared,
where the guest will see other flags or another model. It names the flags for nested virtualisation
where they are new, and AES where Windows would not use it.

## Remedy

Take a named model of the host's vendor. Have the licence at hand, and what a locked disk asks for.

## What fix does

It changes the CPU only, nothing in the guest.

## When to accept it

Where the licence allows it to be activated again, and speed under VBS was looked at.

## References

- Microsoft, "Reactivating Windows after a hardware change"
- SymCrypt, lib/cpuid.c (AMD, family below 15h)
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.model.change_case import ChangeCase
from unmask.model.finding import About, Problem, Rule
from unmask.rules import _changes, _scope, _single_flags, _words

NAMED = "Take a named model of the host's vendor instead."


def check(change: ChangeCase) -> Iterator[Problem]:
    """Yield what Windows makes of the new CPU."""
    if not _changes.is_vm(change) or not _scope.windows(change.now):
        return
    now, then = change.now.view, change.then.view
    if (now.states, now.rest, now.model, now.label) == (
        then.states,
        then.rest,
        then.model,
        then.label,
    ):
        return
    yield _changes.told(
        "Windows runs in it: its CPU is part of what the activation is bound to, so that it may "
        "have to be activated again.",
        "Have the licence at hand.",
    )
    nested = (_changes.shown(then) - _changes.shown(now)) & _changes.NESTING
    if nested:
        yield _changes.told(
            f"With {then.label} Windows sees {_words.flags(nested)} and can start its own "
            "hypervisor (VBS), with which it becomes slower.",
            NAMED,
            flags=nested,
        )
    old = _single_flags.of_old_family(change.then)
    if then.shows("aes") and old and _single_flags.ignored_by_windows(change.then):
        yield _changes.told(
            f"Windows will not use AES with {then.label}: on AMD it ignores the flag of a CPU of "
            "such an old family.",
            NAMED,
            flags=("aes",),
        )


RULE = Rule("RST003", "Windows notices another CPU", About.CHANGE, check)
