"""What a set of nodes has in common: flags, x86-64 level, named models, and who holds what back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from unmask.cpu import levels, model_fit
from unmask.cpu.node_flags import X86, lacks, node, sure
from unmask.model.baseline import Baseline, FlagSource, ModelFit, Needs, Node, UnknownNode
from unmask.model.inventory import Host
from unmask.model.reading import Known

MIXED_VENDORS = (
    "The nodes have CPUs of several vendors ({}): only models of no vendor can run on all of them, "
    "and live migration between vendors is not guaranteed to work whatever the model."
)
NOTHING_KNOWN = "Of no chosen node the flags are known: nothing can be said of a common CPU."
ARM = (
    "On {} no named model serves under KVM: guests get the CPU of their host, so that live "
    "migration takes nodes with the same CPU. The flags that all nodes have are listed."
)
ARCHITECTURES = (
    "The nodes are of several architectures ({}): no guest can move between those, and they have "
    "no flags in common."
)


def baseline(
    hosts: Sequence[Host],
    needs: Needs,
    *,
    windows: bool = False,
    spoken: frozenset[str] | None = None,
) -> Baseline:
    """Return what the hosts have in common: see `of_nodes`.

    Args:
        hosts: The hosts between which guests are to move.
        needs: What the models are ranked by.
        windows: Whether Windows guests are among those guests.
        spoken: See `node_flags.node`.
    """
    return of_nodes([node(host, spoken) for host in hosts], needs, windows=windows)


def of_nodes(
    read: Sequence[Node | UnknownNode], needs: Needs, *, windows: bool = False
) -> Baseline:
    """Return what nodes have in common.

    A host whose flags are not known is in `unknown`, and a remark says that the answer holds
    without it: it is never taken to have anything.
    """
    nodes = tuple(item for item in read if isinstance(item, Node))
    unknown = tuple(item for item in read if isinstance(item, UnknownNode))
    found = Baseline(nodes, unknown, needs, remarks=tuple(_without(unknown)))
    arches = sorted({place.arch for place in nodes})
    if not nodes:
        return replace(found, remarks=(*found.remarks, NOTHING_KNOWN))
    if len({"x86" if arch in X86 else arch for arch in arches}) > 1:
        said = ARCHITECTURES.format(", ".join(arches))
        return replace(found, remarks=(*found.remarks, said))
    found = replace(
        found,
        common=common(nodes),
        open=_open(nodes),
        held_back=held_back(nodes),
        alike=tuple(alike(nodes)),
    )
    if arches[0] not in X86:
        return replace(found, remarks=(*found.remarks, ARM.format(arches[0])))
    models = model_fit.fits(nodes, needs, windows=windows)
    return replace(
        found,
        level=levels.level(found.common),
        models=models,
        unlocked=tuple(unlocked(nodes, models, needs)),
        remarks=(*found.remarks, *_about(nodes)),
    )


def common(nodes: Sequence[Node]) -> frozenset[str]:
    """Return the flags that a guest can surely be given on every node."""
    candidates = frozenset[str]().union(*(place.given for place in nodes))
    return frozenset(flag for flag in candidates if all(sure(place, flag) for place in nodes))


def held_back(nodes: Sequence[Node]) -> tuple[tuple[str, frozenset[str]], ...]:
    """Return for each node the flags that all other nodes surely have and it surely lacks."""
    found = []
    for place in nodes:
        others = [other for other in nodes if other is not place]
        only = frozenset(flag for flag in common(others) if lacks(place, flag))
        found.append((place.name, only if others else frozenset[str]()))
    return tuple(found)


def alike(nodes: Sequence[Node]) -> Iterator[tuple[str, ...]]:
    """Yield the names of nodes between which a guest of type host keeps its CPU.

    They have the same CPU by name, give guests the same flags, and run the same microcode, which
    has to be known.
    """
    groups: dict[tuple[str, str, frozenset[str]], list[str]] = {}
    for place in nodes:
        cpu = place.host.cpu
        if isinstance(cpu, Known) and cpu.value.microcode and place.spoken is None:
            key = (cpu.value.model_name, cpu.value.microcode, place.given)
            groups.setdefault(key, []).append(place.name)
    yield from (tuple(names) for names in groups.values() if len(names) > 1)


def running(models: Sequence[ModelFit]) -> tuple[ModelFit, ...]:
    """Return the models that all known nodes can run, in their order."""
    return tuple(fit for fit in models if fit.fits)


def unlocked(
    nodes: Sequence[Node], models: Sequence[ModelFit], needs: Needs
) -> Iterator[tuple[str, str]]:
    """Yield each node that alone keeps the others from a better model, and the best of those.

    A model is better here where it shows more of the needs or has a higher level.
    """
    best = next(iter(running(models)), None)
    for place in nodes:
        alone = [fit for fit in models if {item.node for item in fit.obstacles} == {place.name}]
        if len(nodes) < 2 or not alone:
            continue
        first = min(alone, key=lambda fit: model_fit.worth(fit, needs))
        if best is None or (len(first.shows), first.level) > (len(best.shows), best.level):
            yield place.name, first.name


def _open(nodes: Sequence[Node]) -> frozenset[str]:
    """Return what some nodes have and the others may have: it is not told, or lacking, of them."""
    candidates = frozenset[str]().union(*(place.given for place in nodes))
    return frozenset(
        flag
        for flag in candidates
        if not all(sure(place, flag) for place in nodes)
        and not any(lacks(place, flag) for place in nodes)
    )


def _without(unknown: Sequence[UnknownNode]) -> Iterator[str]:
    for item in unknown:
        yield (
            f"The flags of {item.host.name} are not known ({item.reason}): what is said holds "
            "without it, and a model that fits the others may not start there."
        )


def _about(nodes: Sequence[Node]) -> Iterator[str]:
    vendors = sorted({place.vendor for place in nodes} - {""})
    if len(vendors) > 1:
        yield MIXED_VENDORS.format(", ".join(vendors))
    for place in nodes:
        if place.source is FlagSource.CAPABILITIES:
            yield (
                f"Of {place.name} only libvirt's description of its physical CPU is known, which "
                "can leave flags out and does not tell what KVM gives to guests."
            )
        elif place.spoken is not None:
            yield (
                f"Of {place.name} only some flags are known, as its hypervisor lists them: the "
                "others are not taken to be there."
            )
        if "hypervisor" in place.given and _nested(place):
            yield (
                f"{place.name} is a virtual machine itself: its flags are what its own hypervisor "
                "shows, and change with that."
            )


def _nested(place: Node) -> bool:
    if place.source is FlagSource.HYPERVISOR and not place.host.cpu.known:
        return False
    return "hypervisor" in place.host.cpu.value.flags
