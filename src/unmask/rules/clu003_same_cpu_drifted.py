"""Nodes with the same CPU give guests different flags.

## Why it matters

Equal silicon gives equal flags until something takes some of them away: a microcode update (TSX),
a setting of the firmware, an option or the age of the kernel. The nodes have drifted apart then,
and nobody has chosen that. A guest of type `host` that moves to the poorer node can crash there,
and a model that the one node runs may not start on the other.

## How it decides

It groups the nodes of a cluster by the CPU's name as the kernel prints it, and compares what KVM
gives to guests, not what the kernels print. AES and PCLMULQDQ, and what goes with them, are left
to CLU002. Medium where a guest of type `host` runs on one of these nodes, else low. Where a node's
flags are not known, the check is reported as skipped, beside what was found on the others.

## Remedy

Bring the nodes to the same microcode, firmware settings and kernel, and restart them one by one.
Until then give guests that move a named model. `unmask baseline --compare` tells which node changed
since an earlier `--save`.

## What fix does

Nothing: this is decided by the nodes' firmware, microcode and kernel.

## When to accept it

While a rolling update is under way.

## References

- Intel, "Intel Transactional Synchronization Extensions (Intel TSX) Disable Update for Selected
  Processors"
- Proxmox VE documentation, qm.adoc, "CPU Type"
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unmask.cpu.node_flags import node
from unmask.errors import UnreadError
from unmask.model.baseline import Node
from unmask.model.case import ClusterCase
from unmask.model.cpu import Mode
from unmask.model.finding import About, Confidence, Problem, Rule, Severity
from unmask.model.inventory import Host
from unmask.model.reading import Known
from unmask.rules import _words

WITH_AES = frozenset({"aes", "pclmulqdq", "vaes", "vpclmulqdq"})
"""CLU002 tells of the first two, without which the others do not come."""
SAME = "microcode, kernel and QEMU are the same or not known"


def check(case: ClusterCase) -> Iterator[Problem]:
    """Yield a problem for each CPU name whose nodes give guests different flags."""
    if len(case.hosts) < 2:
        return
    groups: dict[str, list[Node]] = {}
    unknown = []
    for host in case.hosts:
        found = node(host)
        if not isinstance(found, Node) or found.spoken is not None:
            unknown.append(host.name)
        elif isinstance(host.cpu, Known) and host.cpu.value.model_name:
            groups.setdefault(host.cpu.value.model_name, []).append(found)
    for model, nodes in sorted(groups.items()):
        yield from _drifted(case, model, nodes)
    if unknown:
        raise UnreadError(f"the flags of {_words.listed(unknown)} are not known", "/proc/cpuinfo")


def _drifted(case: ClusterCase, model: str, nodes: Sequence[Node]) -> Iterator[Problem]:
    everything = frozenset[str]().union(*(place.given for place in nodes))
    lacking = {place.name: flags for place in nodes if (flags := _own(everything - place.given))}
    if not lacking:
        return
    hosts = {place.host.subject for place in nodes}
    passed = sorted(
        item.guest.subject
        for item in case.guests
        if item.guest.host in hosts and item.guest.current.mode is Mode.HOST
    )
    names = _words.listed(lacking)
    yield Problem(
        severity=Severity.MEDIUM if passed else Severity.LOW,
        message=(
            f"{names} {'gives' if len(lacking) == 1 else 'give'} guests fewer flags than other "
            f"nodes with the same CPU ({model})"
        ),
        evidence=tuple(_evidence(nodes, lacking, passed)),
        remedy=(
            "Bring these nodes to the same microcode, firmware settings and kernel; until then "
            "give guests that move between them a named model."
        ),
        confidence=Confidence.CERTAIN,
        flags=tuple(sorted(frozenset[str]().union(*lacking.values()))),
    )


def _own(flags: frozenset[str]) -> frozenset[str]:
    """Return what of the flags that a node lacks is not CLU002's to tell."""
    return flags - WITH_AES if flags & {"aes", "pclmulqdq"} else flags


def _evidence(
    nodes: Sequence[Node], lacking: dict[str, frozenset[str]], passed: Sequence[str]
) -> Iterator[str]:
    for name, flags in lacking.items():
        yield f"{name} lacks {_words.flags(flags)}."
    facts = {place.name: _facts(place.host) for place in nodes}
    if len(set(facts.values())) > 1:
        yield from (f"{name}: {said}." for name, said in facts.items() if said)
    else:
        yield f"Their {SAME}: look at the firmware's settings and the kernel's options."
    if passed:
        verb = "has" if len(passed) == 1 else "have"
        yield f"{_words.few(passed)} {verb} the type host and would meet the difference on a move."


def _facts(host: Host) -> str:
    microcode = host.cpu.value.microcode if isinstance(host.cpu, Known) else ""
    named = (
        ("microcode", microcode),
        ("kernel", host.software.kernel),
        ("QEMU", host.software.qemu),
    )
    return ", ".join(f"{what} {version}" for what, version in named if version)


RULE = Rule("CLU003", "Equal CPUs give guests different flags", About.CLUSTER, check)
