"""The CPU that a guest would have with another value of `cpu:`, its own configuration aside."""

from __future__ import annotations

from dataclasses import replace

from unmask.cpu import features
from unmask.dialects.proxmox import cpu_option, specification
from unmask.dialects.proxmox.conf import Section
from unmask.dialects.proxmox.release import NEWEST
from unmask.dialects.proxmox.specification import Place
from unmask.errors import InputError
from unmask.model.cpu import Accelerator, CpuSpec, Mode, Origin
from unmask.model.inventory import Cluster, Guest, Host, own
from unmask.model.reading import Known

HYPERVISOR = "Proxmox VE"


def spec(value: str, guest: Guest, host: Host | None, cluster: Cluster | None) -> CpuSpec:
    """Return what Proxmox VE would make of `cpu: VALUE` for this guest.

    Args:
        value: As `qm set VMID --cpu VALUE` takes it: "host", "kvm64,flags=+aes", "custom-nas".
        guest: Whose configuration would be changed; its system and machine count too.
        host: Where it is, None where that was not read.
        cluster: With its custom models.

    Raises:
        InputError: Proxmox VE does not take the value.
    """
    version = (host.software.hypervisor.removeprefix(HYPERVISOR).strip() if host else "") or NEWEST
    models = dict(cluster.custom_models) if cluster else {}
    option = cpu_option.parse(value, models.keys(), version)
    if option.custom:
        return _of_custom(value, models[option.custom], option.flags)
    cpu = host.cpu.value if host and isinstance(host.cpu, Known) else None
    place = Place(
        cluster=own(guest.host, guest.site).rpartition("/")[0],
        node=guest.node,
        host_arch=cpu.arch if cpu else "",
        host_flags=cpu.flags if cpu else None,
        version=version,
    )
    values = {"cpu": value, "ostype": guest.os_declared, "machine": guest.machine}
    if guest.accelerator is Accelerator.TCG:
        values["kvm"] = "0"
    if guest.arch and guest.arch != (place.host_arch or "x86_64"):
        values["arch"] = guest.arch
    return specification.specify(
        Section({key: word for key, word in values.items() if word}), place
    )


def _of_custom(value: str, model: CpuSpec, flags: tuple[tuple[str, str], ...]) -> CpuSpec:
    """Return a custom model with a guest's own flags beside it."""
    if model.mode is Mode.UNKNOWN:
        raise InputError(f"what {model.label} is was not read")
    on, off = set(model.on), set(model.off)
    for sign, name in flags:
        mine = specification.NESTED if name == "nested-virt" else features.flags_of(name)
        on, off = (on | mine, off - mine) if sign == "+" else (on - mine, off | mine)
    return replace(model, written=value, origin=Origin.CUSTOM, on=frozenset(on), off=frozenset(off))
