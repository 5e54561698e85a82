"""The configuration holds lines or options that the hypervisor itself ignores.

## Why it matters

Proxmox VE's parser drops a line that does not fit its form: a comment at the end of a line, a key
with capitals, an option of another version. It says so in a log at most. libvirt drops elements
of other namespaces. Whoever wrote the line believes that it holds, and it disappears at the next
change.

## How it decides

It fires where the source has noted such a line. Low where the line is about the CPU, else info.

## Remedy

Correct the line, or remove it. Comments belong on lines of their own that begin with `#`.

## What fix does

Nothing: it changes the CPU only.

## When to accept it

Where a tool of your own reads the line.

## References

- qemu-server, src/PVE/QemuServer.pm, parse_vm_config
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.model.case import GuestCase
from unmask.model.cpu import RemarkKind
from unmask.model.finding import About, Confidence, Problem, Rule, Severity
from unmask.rules import _words


def check(case: GuestCase) -> Iterator[Problem]:
    """Yield a problem where parts of the configuration are ignored."""
    guest = case.guest
    on_cpu = [remark.text for remark in guest.configured.remarked(RemarkKind.IGNORED)]
    if guest.pending is not None:
        on_cpu += [remark.text for remark in guest.pending.remarked(RemarkKind.IGNORED)]
    other = [remark.text for remark in guest.remarks if remark.kind is RemarkKind.IGNORED]
    texts = tuple(dict.fromkeys(on_cpu + other))
    if not texts:
        return
    yield Problem(
        severity=Severity.LOW if on_cpu else Severity.INFO,
        message=_words.about(
            case,
            f"the hypervisor ignores {_words.count(len(texts), 'part')} of the configuration",
        ),
        evidence=texts,
        remedy="Correct or remove what is ignored.",
        confidence=Confidence.FIRM,
    )


RULE = Rule("CPU011", "Parts of the configuration are ignored", About.GUEST, check)
