"""The smallest CPU model that shows what a guest needs on all hosts that may run it."""

from __future__ import annotations

import re
from functools import lru_cache

from unmask.cpu import catalogue, levels
from unmask.cpu.catalogue import CpuModel
from unmask.cpu.resolve import resolve
from unmask.model.cpu import Accelerator, CpuSpec, HostCpu, Mode, Origin
from unmask.model.inventory import Platform
from unmask.model.reading import Known

VERSIONED = re.compile(r"-v\d+$")


@lru_cache(maxsize=512)
def smallest(
    hosts: frozenset[HostCpu], platform: Platform, level: int, wanted: frozenset[str]
) -> str:
    """Return a named model that every one of `hosts` can run, or "" where there is none.

    Args:
        hosts: The CPUs on which the guest may be started.
        platform: Proxmox VE accepts the names it knows; libvirt is taken to know QEMU's.
        level: The x86-64 level that the guest has now: the model keeps it, or the highest that
            all of the hosts have.
        wanted: The flags that the model must show.

    Hosts of several vendors have no named model in common: such a model says which vendor it is.
    """
    vendors = {host.vendor for host in hosts}
    if len(vendors) != 1 or not all(host.complete for host in hosts):
        return ""
    kept = min(level, *(levels.level(host.flags) for host in hosts))
    needed = wanted | levels.lacking(kept, ())
    allowed = catalogue.proxmox_cpu_names("x86_64") if platform is Platform.PROXMOX else None
    found = []
    for name in catalogue.names():
        if VERSIONED.search(name) or (allowed is not None and name not in allowed):
            continue
        model = catalogue.find(name)
        if model is None or model.vendor not in vendors or _avoided(model, platform):
            continue
        if needed <= model.flags and runs(name, hosts):
            found.append((model.level, len(model.flags), name))
    return min(found)[2] if found else ""


def _avoided(model: CpuModel, platform: Platform) -> bool:
    """Return whether a name is deprecated, or too new for the oldest QEMU looked at."""
    if model.deprecated or model.since != catalogue.releases()[0]:
        return True
    return platform is Platform.PROXMOX and catalogue.proxmox_deprecated(model.name) is not None


def runs(model: str, hosts: frozenset[HostCpu]) -> bool:
    """Return whether every one of `hosts` can give all flags of a named model under KVM."""
    spec = CpuSpec(model, Origin.CONFIG, Mode.MODEL, model, model, enforced=True)
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
        if catalogue.find(name) and runs(name, hosts):
            return name
    return ""
