"""A custom CPU model has to be made in the cluster first.

## Why it matters

A custom model is a section of a file that all nodes share. Every guest that uses it changes when it
changes, and it stays when the guest is given another model again.

## How it decides

It fires where the new CPU is a custom model that the cluster does not have yet.

## Remedy

Take a named model, if one is good enough, or look at the section that the plan shows.

## What fix does

It makes the model right before the guest is changed (Proxmox VE 9.1 and later by the API, older
ones by SSH), and does not change one that is there. Undoing gives the guest its old CPU and leaves
the model.

## When to accept it

Where the cluster is yours to change.

## References

- Proxmox VE, "QEMU/KVM Virtual Machines", custom CPU types
- CLU004
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.model.change_case import ChangeCase
from unmask.model.finding import About, Problem, Rule
from unmask.rules import _changes


def check(change: ChangeCase) -> Iterator[Problem]:
    """Yield a problem where a custom model has to be made."""
    if change.custom_model:
        yield _changes.told(
            f"The custom model {change.custom_model} has to be made first, in a file that all "
            "nodes share.",
            "Take a named model if one is good enough.",
        )


RULE = Rule("RST011", "A custom model has to be made first", About.CHANGE, check)
