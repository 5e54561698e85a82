"""A CPU model by its name alone, as a guest with nothing else has it."""

from __future__ import annotations

from collections.abc import Mapping

from unmask.dialects import qemu
from unmask.dialects.proxmox.conf import Section
from unmask.dialects.proxmox.cpu_option import CUSTOM
from unmask.dialects.proxmox.specification import Place, specify
from unmask.errors import InputError
from unmask.model.cpu import CpuSpec, HostCpu, Origin


def spec(name: str, host: HostCpu, custom: Mapping[str, CpuSpec]) -> CpuSpec:
    """Return what a model is on a host; of `Mode.UNKNOWN` where there is none of this name.

    Args:
        name: As Proxmox VE or QEMU spell it, with "custom-" for a cluster's own.
        host: The CPU of the node.
        custom: The cluster's own models, by name without "custom-".
    """
    own = custom.get(name.removeprefix(CUSTOM)) if name.startswith(CUSTOM) else None
    place = Place("", "", host.arch, host.flags, models=None)
    try:
        return own or specify(Section({"cpu": name}), place)
    except InputError:
        return qemu.spec_of(name, Origin.CONFIG)
