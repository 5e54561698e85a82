"""Guests inside the guest cannot run any more, as it no longer sees vmx or svm.

## Why it matters

A guest that runs guests (WSL2, Docker Desktop, Android emulators, a nested hypervisor) needs the
flag for virtualisation, which `host` passes on and named models do not. Changed to a named model,
its guests do not start, or are emulated and slow.

## How it decides

It fires where the guest sees `vmx` or `svm` now and surely will not with the new CPU. It says
nothing where its node lets no guest run guests, as nothing of it works then anyway. Where what the
new CPU shows is not known, RST006 says so.

## Remedy

Where guests run inside, keep `host`, or add the flag to a custom model.

## What fix does

It does not look whether guests run inside.

## When to accept it

Where no guest runs inside.

## References

- Linux, Documentation/virt/kvm/x86/nested-vmx.rst
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.cpu import move_views
from unmask.model.change_case import ChangeCase
from unmask.model.finding import About, Problem, Rule
from unmask.model.reading import Known
from unmask.rules import _changes, _words


def check(change: ChangeCase) -> Iterator[Problem]:
    """Yield a problem where virtualisation is taken from the guest."""
    lost = _changes.taken(change) & _changes.NESTING
    host = change.now.host
    if not lost or not _changes.is_vm(change):
        return
    if isinstance(host, Known) and move_views.nesting(host.value) is False:
        return
    yield _changes.told(
        f"The guest no longer sees {_words.flags(lost)}: guests inside it do not run any more.",
        "If guests run in it, keep host, or take a custom model with the flag.",
        flags=lost,
    )


RULE = Rule("RST004", "Guests inside the guest cannot run any more", About.CHANGE, check)
