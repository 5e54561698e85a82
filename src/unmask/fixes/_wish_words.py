"""What `--cpu` says, in words: a model or a mode, and flags beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from unmask.cpu import catalogue, features
from unmask.dialects.proxmox.release import NEWEST
from unmask.errors import UsageError

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
FLAG = re.compile(r"[+-][A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
RECOMMENDED = "recommended"
OF_PROXMOX = catalogue.proxmox_vm_flags(NEWEST)
"""Flags that are no CPU's: "nested-virt", "hv-tlbflush"."""
EXAMPLES = "host, x86-64-v3, Haswell-noTSX, custom-NAME, +aes, recommended"


@dataclass(frozen=True, slots=True)
class Words:
    """A wish that was read, in no hypervisor's words yet."""

    model: str = ""
    """A model or mode as it was written; "" keeps the guest's own."""
    on: tuple[str, ...] = ()
    """Flags to be turned on, in our spelling."""
    off: tuple[str, ...] = ()
    rest: Mapping[str, str] = field(default_factory=dict)
    """Other keys of Proxmox VE's `cpu`: "hidden", "phys-bits"."""

    @property
    def empty(self) -> bool:
        """Return whether nothing is wished for."""
        return not (self.model or self.on or self.off or self.rest)


def parse(text: str) -> Words:
    """Return what a wish says; `recommended` is for whoever knows the guest.

    Raises:
        UsageError: It says nothing, contradicts itself, or names a flag that nobody knows.
    """
    model, flags, rest = "", [], {}
    for number, part in enumerate(item.strip() for item in text.split(",")):
        key, sign, value = part.partition("=")
        if part[:1] in ("+", "-"):
            flags.append(part)
        elif sign and key == "flags":
            flags += [word for word in value.split(";") if word]
        elif sign and key != "cputype":
            rest[key] = value
        elif number == 0 and NAME.fullmatch(value if sign else part):
            model = value if sign else part
        else:
            raise UsageError(f"--cpu {text[:80]}: {part[:80]!r} is no CPU; write {EXAMPLES}")
    for word in flags:
        if not FLAG.fullmatch(word) or not (features.known(word[1:]) or word[1:] in OF_PROXMOX):
            raise UsageError(f"--cpu {text[:80]}: no flag is called {word[:80]!r}; write +aes")
    on = tuple(dict.fromkeys(_spelled(word[1:]) for word in flags if word[0] == "+"))
    off = tuple(dict.fromkeys(_spelled(word[1:]) for word in flags if word[0] == "-"))
    both = sorted(set(on) & set(off))
    if both:
        raise UsageError(f"--cpu {text[:80]}: {both[0]} cannot be both turned on and off")
    return Words(model, on, off, rest)


def _spelled(name: str) -> str:
    return features.canonical(name)
