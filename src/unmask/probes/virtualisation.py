"""What the guest can tell about what runs it: DMI, systemd-detect-virt, kern.vm_guest."""

from __future__ import annotations

from unmask.model.inside import Virtualisation
from unmask.probes._probe import Probe
from unmask.probes._section import Section

COMMAND = """\
part vm
systemd-detect-virt --vm || sysctl -n kern.vm_guest
part container
systemd-detect-virt --container
show sys/class/dmi/id/sys_vendor sys/class/dmi/id/product_name \\
    sys/class/dmi/id/product_version sys/hypervisor/type proc/device-tree/model
part kenv
if has kenv; then
    kenv -q smbios.system.maker
    kenv -q smbios.system.product
    kenv -q smbios.system.version
fi
part flag
grep -m 1 -o -w hypervisor proc/cpuinfo ||
    grep -m 1 -o 'Features2=.*[,<]HV[,>]' var/run/dmesg.boot
"""

_DMI = "/sys/class/dmi/id/"
_NONE = frozenset({"none", "generic", ""})
"""FreeBSD's "generic" is a hypervisor that it does not know."""


def parse(section: Section) -> Virtualisation:
    """Return what is known; a bare machine has empty texts or its own maker's."""
    detected = section.first("vm")
    hypervisor = section.first("/sys/hypervisor/type")
    if detected in _NONE and hypervisor:
        detected = hypervisor
    container = section.first("container")
    kenv = [*(line.strip() for line in section.lines("kenv")), "", "", ""]
    model = section.first("/proc/device-tree/model").rstrip("?")  # it ends in a zero byte
    return Virtualisation(
        detected=detected,
        container="" if container == "none" else container,
        vendor=section.first(_DMI + "sys_vendor") or kenv[0],
        product=section.first(_DMI + "product_name") or kenv[1] or model,
        version=section.first(_DMI + "product_version") or kenv[2],
        hypervisor_flag=bool(section.first("flag")),
    )


PROBE = Probe("virtualisation", COMMAND, parse)
