"""The nodes of a cluster differ in flags that guests can use.

## Why it matters

A guest can move without danger between nodes whose flags are equal. Where they differ, a model
that one node can run may not start on another, and a guest of type `host` can land on a CPU that
lacks what its software already uses. Most differences between nodes do not matter to any guest
(power management, monitoring); this rule names those that do.

## How it decides

It compares the nodes whose flags are known, each architecture for itself, and looks at the flags
of the x86-64 levels and those that reports show (AES, AVX, mitigations and others). Medium where
AES or PCLMULQDQ differ, low where the x86-64 level differs, else info. Where a node's flags are
not known, the check is reported as skipped, beside what was found on the others.

## Remedy

Choose CPU models that all nodes can run, or limit guests that need more to the nodes that have
it. Guests of type `host` are safe between nodes with equal flags and microcode.

## What fix does

Nothing: hardware does not change. CPU005 names the guests that some nodes cannot run.

## When to accept it

Where the nodes are meant to differ and guests are bound to groups of nodes.

## References

- Proxmox VE documentation, qm.adoc, "CPU Type"
- x86-64 psABI, micro-architecture levels
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unmask.cpu.features import reported
from unmask.cpu.levels import LEVELS, level
from unmask.errors import UnreadError
from unmask.model.case import ClusterCase
from unmask.model.cpu import HostCpu
from unmask.model.finding import About, Confidence, Problem, Rule, Severity
from unmask.model.reading import Known
from unmask.rules import _words

X86 = ("x86_64", "i686")
DECISIVE = frozenset({"aes", "pclmulqdq"})


def check(case: ClusterCase) -> Iterator[Problem]:
    """Yield a problem for each architecture whose nodes differ."""
    if len(case.hosts) < 2:
        return
    known: dict[str, list[tuple[str, HostCpu]]] = {}
    unknown = []
    for host in case.hosts:
        if isinstance(host.cpu, Known) and host.cpu.value.complete:
            known.setdefault(host.cpu.value.arch, []).append((host.name, host.cpu.value))
        else:
            unknown.append(host.name)
    for arch, nodes in sorted(known.items()):
        yield from _differences(case, arch, nodes)
    if unknown:
        raise UnreadError(f"the flags of {_words.listed(unknown)} are not known", "/proc/cpuinfo")


def _differences(
    case: ClusterCase, arch: str, nodes: Sequence[tuple[str, HostCpu]]
) -> Iterator[Problem]:
    useful = frozenset(reported(arch)) | (LEVELS[4] if arch in X86 else frozenset())
    sets = [cpu.flags & useful for _, cpu in nodes]
    differing = frozenset[str]().union(*sets) - sets[0].intersection(*sets[1:])
    if not differing:
        return
    levels = {level(cpu.flags) for _, cpu in nodes} if arch in X86 else set()
    severity = Severity.LOW if len(levels) > 1 else Severity.INFO
    yield Problem(
        severity=Severity.MEDIUM if differing & DECISIVE else severity,
        message=f"the nodes of {case.cluster.name} differ in {_words.flags(differing)}",
        evidence=tuple(_evidence(arch, nodes, differing)),
        remedy=(
            "Give guests that move between these nodes a CPU model that all of them can run, or "
            "keep guests that need these flags on the nodes that have them."
        ),
        confidence=Confidence.CERTAIN,
        flags=tuple(sorted(differing)),
    )


def _evidence(
    arch: str, nodes: Sequence[tuple[str, HostCpu]], differing: frozenset[str]
) -> Iterator[str]:
    lacking: dict[frozenset[str], list[str]] = {}
    for name, cpu in nodes:
        lacking.setdefault(differing - cpu.flags, []).append(name)
    for flags, names in lacking.items():
        verb = "lacks" if len(names) == 1 else "lack"
        what = _words.flags(flags) if flags else "none of these flags"
        yield f"{_words.listed(names)} {verb} {what}."
    if arch in X86:
        if len({cpu.vendor for _, cpu in nodes}) > 1:
            yield "Their vendors differ: live migration between vendors is not guaranteed to work."
        for name, cpu in nodes:
            yield f"{name}: {cpu.model_name or 'CPU without a name'}, x86-64-v{level(cpu.flags)}."


RULE = Rule("CLU001", "Nodes of a cluster differ in CPU flags", About.CLUSTER, check)
