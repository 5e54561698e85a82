"""Nodes have the same CPU by name, and one of them does not show AES or PCLMULQDQ.

## Why it matters

The same silicon does not lose instructions. If one of several equal CPUs shows no AES, its
firmware turns it off (a setting that exists for export rules), its microcode is another one, or
the node is itself a guest whose hypervisor hides the flag. Every guest on that node pays, and a
guest of type `host` that moves there meets a CPU without what it uses.

## How it decides

It groups the nodes of a cluster by the CPU's name as the kernel prints it, and fires where `aes`
or `pclmulqdq` is on some nodes of a group and not on others. Where a node's flags are not known,
the check is reported as skipped.

## Remedy

Compare firmware settings and microcode of the nodes, and restart the node after the change.

## What fix does

Nothing: this is decided in the node's firmware.

## When to accept it

Hardly ever.

## References

- VMware knowledge base 301390: AES and PCLMULQDQ differing between equal CPUs by a firmware
  setting
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unmask.errors import UnreadError
from unmask.model.case import ClusterCase
from unmask.model.cpu import HostCpu
from unmask.model.finding import About, Confidence, Problem, Rule, Severity
from unmask.model.reading import Known
from unmask.rules import _words

LOOKED_AT = ("aes", "pclmulqdq")


def check(case: ClusterCase) -> Iterator[Problem]:
    """Yield a problem for each CPU name whose nodes differ in AES or PCLMULQDQ."""
    if len(case.hosts) < 2:
        return
    groups: dict[str, list[tuple[str, HostCpu]]] = {}
    unknown = []
    for host in case.hosts:
        if not isinstance(host.cpu, Known) or not host.cpu.value.complete:
            unknown.append(host.name)
        elif host.cpu.value.model_name:
            groups.setdefault(host.cpu.value.model_name, []).append((host.name, host.cpu.value))
    for model, nodes in sorted(groups.items()):
        yield from _odd_ones(model, nodes)
    if unknown:
        raise UnreadError(f"the flags of {_words.listed(unknown)} are not known", "/proc/cpuinfo")


def _odd_ones(model: str, nodes: Sequence[tuple[str, HostCpu]]) -> Iterator[Problem]:
    missing = {flag: [name for name, cpu in nodes if flag not in cpu.flags] for flag in LOOKED_AT}
    odd = {flag: names for flag, names in missing.items() if 0 < len(names) < len(nodes)}
    if not odd:
        return
    without = sorted({name for names in odd.values() for name in names})
    nested = any("hypervisor" in cpu.flags for name, cpu in nodes if name in without)
    yield Problem(
        severity=Severity.MEDIUM,
        message=(
            f"{_words.listed(without)} {'does' if len(without) == 1 else 'do'} not show "
            f"{_words.flags(odd)}, which other nodes with the same CPU ({model}) do"
        ),
        evidence=(
            *(f"{_words.name(flag)} is missing on {_words.listed(odd[flag])}." for flag in odd),
            *(f"{name}: {_microcode(cpu)}." for name, cpu in nodes),
            *(["A node without it is a virtual machine itself."] if nested else []),
        ),
        remedy=(
            "Give the node, which is a virtual machine, the CPU model of the others."
            if nested
            else "Compare the firmware's AES setting and the microcode with a node that has it."
        ),
        confidence=Confidence.CERTAIN,
        flags=tuple(sorted(odd)),
    )


def _microcode(cpu: HostCpu) -> str:
    return f"microcode {cpu.microcode}" if cpu.microcode else "microcode not known"


RULE = Rule("CLU002", "Equal CPUs, one without AES or PCLMULQDQ", About.CLUSTER, check)
