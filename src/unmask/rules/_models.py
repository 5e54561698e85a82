"""The smallest CPU model that shows what a guest needs on all hosts that may run it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import lru_cache

from unmask.cpu import catalogue, levels
from unmask.cpu.catalogue import CpuModel
from unmask.cpu.resolve import resolve
from unmask.model.cpu import Accelerator, CpuSpec, HostCpu, Mode, Origin
from unmask.model.inventory import Platform
from unmask.model.reading import Known

TSX = frozenset({"hle", "rtm"})
VERSIONED = re.compile(r"-v\d+$")


@lru_cache(maxsize=512)
def smallest(
    hosts: frozenset[HostCpu],
    platform: Platform,
    level: int,
    wanted: frozenset[str],
    *,
    modern: bool = False,
) -> str:
    """Return a named model that every one of `hosts` can run, or "" where there is none.

    Args:
        hosts: The CPUs on which the guest may be started.
        platform: Proxmox VE accepts the names it knows; libvirt is taken to know QEMU's.
        level: The x86-64 level that the guest has now: the model keeps it, or the highest that
            all of the hosts have.
        wanted: The flags that the model must show.
        modern: Whether models of CPU family 15 will not do, which Proxmox VE's own are.

    Proxmox VE's own models come first: they say no vendor, so that they suit hosts of several.
    """
    if not all(host.complete for host in hosts):
        return ""
    kept = min(level, *(levels.level(host.flags) for host in hosts))
    needed = wanted | levels.lacking(kept, ())
    own = _own_models() if platform is Platform.PROXMOX and not modern else ()
    for candidates in (own, _qemu_models({host.vendor for host in hosts}, platform)):
        fitting = [
            (len(flags), spec.label)
            for spec, flags in candidates
            if needed <= flags and _runs(spec, hosts)
        ]
        if fitting:
            return min(fitting)[1]
    return ""


def examples(platform: Platform, level: int, wanted: frozenset[str]) -> tuple[str, ...]:
    """Return the smallest names with `wanted` where no host is known: of any vendor, or of each."""
    needed = wanted | levels.lacking(level, ())
    own = [
        (len(flags), spec.label)
        for spec, flags in (_own_models() if platform is Platform.PROXMOX else ())
        if needed <= flags
    ]
    if own:
        return (min(own)[1],)
    found = []
    for vendor in ("GenuineIntel", "AuthenticAMD"):
        fitting = [
            (len(flags), spec.label)
            for spec, flags in _qemu_models({vendor}, platform)
            if needed <= flags
        ]
        found += [min(fitting)[1]] if fitting else []
    return tuple(found)


def _own_models() -> Iterator[tuple[CpuSpec, frozenset[str]]]:
    """Yield Proxmox VE's own models with the flags that they show under KVM."""
    for name in catalogue.proxmox_names():
        own = catalogue.proxmox_model(name)
        base = catalogue.find(own.reported_model) if own else None
        if own and base:
            yield _spec(name, base.name, own.on), base.flags | own.on


def _qemu_models(
    vendors: Collection[str], platform: Platform
) -> Iterator[tuple[CpuSpec, frozenset[str]]]:
    """Yield QEMU's models of the hosts' vendor; hosts of several vendors have none in common."""
    allowed = catalogue.proxmox_cpu_names("x86_64") if platform is Platform.PROXMOX else None
    for name in catalogue.names():
        if VERSIONED.search(name) or (allowed is not None and name not in allowed):
            continue
        model = catalogue.find(name)
        if model and {model.vendor} == set(vendors) and not _avoided(model, platform):
            yield _spec(name, name), model.flags


def _avoided(model: CpuModel, platform: Platform) -> bool:
    """Return whether a name is deprecated, or too new for the oldest QEMU looked at."""
    if model.deprecated or model.since != catalogue.releases()[0]:
        return True
    return platform is Platform.PROXMOX and catalogue.proxmox_deprecated(model.name) is not None


def _spec(label: str, model: str, on: frozenset[str] = frozenset()) -> CpuSpec:
    return CpuSpec(label, Origin.CONFIG, Mode.MODEL, label, model, on, enforced=True)


def _runs(spec: CpuSpec, hosts: frozenset[HostCpu]) -> bool:
    """Return whether every one of `hosts` can give all flags of an enforced CPU under KVM."""
    return all(resolve(spec, "x86_64", Accelerator.KVM, Known(host)).starts for host in hosts)


@lru_cache(maxsize=512)
def without_tsx(model: str, hosts: frozenset[HostCpu]) -> str:
    """Return the variant of a model that has no TSX (hle, rtm), or "" where there is none.

    The variants' names do not follow one rule: Haswell-noTSX, Haswell-noTSX-IBRS, but only
    Skylake-Server-noTSX-IBRS.
    """
    stem = VERSIONED.sub("", model).removesuffix("-IBRS")
    ibrs = model.endswith("-IBRS")
    names = [f"{stem}-noTSX", f"{stem}-noTSX-IBRS"]
    for name in reversed(names) if ibrs else names:
        if catalogue.find(name) and _runs(_spec(name, name), hosts):
            return name
    return ""
