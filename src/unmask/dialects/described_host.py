"""A machine that is described by one file: /proc/cpuinfo, lscpu, or XML that `virsh` prints."""

from __future__ import annotations

from functools import cache

from unmask.dialects import cpuinfo
from unmask.dialects.libvirt import capabilities, cpu_map, xml
from unmask.dialects.libvirt.model_names import LIBVIRT_9_0
from unmask.errors import InputError
from unmask.model.cpu import HostCpu, HypervisorCpu
from unmask.model.inventory import Host, Platform, Software
from unmask.model.reading import Known, Missing, Reading

EXPECTED = (
    "expected /proc/cpuinfo, the output of lscpu, virsh capabilities or virsh domcapabilities"
)
ONLY_OFFERS = Missing("domain capabilities do not describe the physical CPU")


def described(text: str, name: str) -> Host:
    """Return the machine that `text` describes, without a cluster; `name` becomes its name.

    Raises:
        InputError: It is nothing of the kind, or describes no CPU.
    """
    if not text.lstrip("\ufeff \t\r\n").startswith("<"):
        return _host(name, Platform.PROXMOX, Known(cpuinfo.parse(text)))
    root = xml.parse(text, name)
    if root.tag == "domainCapabilities":
        offer = capabilities.domain(root).cpu
        return _host(name, Platform.LIBVIRT, ONLY_OFFERS, (offer,))
    if root.tag != "capabilities":
        raise InputError(f"a <{root.tag[:40]}> document describes no host; {EXPECTED}")
    cpu = capabilities.host(root).cpu
    if cpu is None:
        raise InputError("these capabilities describe no CPU of the host; give its /proc/cpuinfo")
    return _host(name, Platform.LIBVIRT, Known(cpu))


@cache
def spoken() -> frozenset[str]:
    """Return the flags of which libvirt's description of a physical CPU surely tells.

    They are those of the models that libvirt 9.0 knows, the newest of which are of 2021: a flag
    that a later libvirt added may be there without being listed by an older one.
    """
    return frozenset[str]().union(*(cpu_map.flags(name) or () for name in LIBVIRT_9_0))


def _host(
    name: str,
    platform: Platform,
    cpu: Reading[HostCpu],
    offers: tuple[HypervisorCpu, ...] = (),
) -> Host:
    return Host(name, name, platform, "", cpu, Software(), offers=offers)
