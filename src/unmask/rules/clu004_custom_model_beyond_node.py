"""A custom CPU model asks for flags that a node of the cluster does not have.

## Why it matters

A custom model is made once and used for years. Proxmox VE starts its guests with `enforce`: on a
node that lacks one of the model's flags they do not start, which shows when a guest is moved, or
when high availability brings it there after a node has failed.

## How it decides

It resolves each custom model of the cluster on each node whose flags are known, as QEMU would.
Medium where a guest uses the model, else low. Where a node's flags are not known, the check is
reported as skipped, beside what was found on the others.

## Remedy

Take the flags out of the model, keep its guests on the nodes that have them, or make a new model:
`unmask baseline` writes one that every node can run.

## What fix does

Nothing: a change of a custom model reaches every guest that uses it.

## When to accept it

Where the model is meant for some of the nodes and its guests are bound to those.

## References

- Proxmox VE documentation, cpu-models.conf.adoc
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.cpu.resolve import resolve
from unmask.errors import UnreadError
from unmask.model.case import ClusterCase
from unmask.model.cpu import Accelerator, CpuSpec, Mode
from unmask.model.finding import About, Confidence, Problem, Rule, Severity
from unmask.model.inventory import Host
from unmask.model.reading import Known
from unmask.rules import _words

PREFIX = "custom-"


def check(case: ClusterCase) -> Iterator[Problem]:
    """Yield a problem for each custom model that some node cannot run."""
    models = [(name, spec) for name, spec in case.cluster.custom_models if spec.mode is Mode.MODEL]
    if not models:
        return
    unknown = []
    nodes = []
    for host in case.hosts:
        if not isinstance(host.cpu, Known) or not host.cpu.value.complete:
            unknown.append(host.name)
        elif host.cpu.value.arch == "x86_64":
            nodes.append(host)
    for name, spec in models:
        yield from _beyond(case, name, spec, nodes)
    if unknown:
        raise UnreadError(f"the flags of {_words.listed(unknown)} are not known", "/proc/cpuinfo")


def _beyond(case: ClusterCase, name: str, spec: CpuSpec, nodes: list[Host]) -> Iterator[Problem]:
    lost = {host.name: flags for host in nodes if (flags := _lost(spec, host))}
    if not lost:
        return
    users = sorted(
        item.guest.subject
        for item in case.guests
        if PREFIX + name
        in {spec.label for spec in (item.guest.configured, item.guest.pending) if spec}
    )
    fewest = frozenset[str]().union(*lost.values())
    if len(lost) == len(nodes):
        where = "no node whose flags are known can run it"
    else:
        where = f"guests of it do not start on {_words.listed(lost)}"
    yield Problem(
        severity=Severity.MEDIUM if users else Severity.LOW,
        message=f"the custom model {name} asks for flags that nodes lack: {where}",
        evidence=(
            *(f"{host} lacks {_words.flags(flags)}." for host, flags in lost.items()),
            f"Used by {_words.few(users)}." if users else "No guest that was read uses it.",
        ),
        remedy=(
            "Take these flags out of the model, keep its guests on nodes that have them, or let "
            "unmask baseline write a model that every node can run."
        ),
        confidence=Confidence.CERTAIN,
        flags=tuple(sorted(fewest)),
    )


def _lost(spec: CpuSpec, host: Host) -> frozenset[str]:
    """Return what the node cannot give of the model."""
    kvm = Accelerator.KVM
    return resolve(spec, "x86_64", kvm, host.cpu, host.offers, host.software.qemu).lost


RULE = Rule("CLU004", "Custom CPU model beyond a node", About.CLUSTER, check)
