"""The options of a guest's configuration: what they may hold, who may set them, when they work.

Sources: $check_vm_modify_config_perm of PVE/API2/Qemu.pm, $confdesc and $fast_plug_option of
PVE/QemuServer.pm.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from unmask.dialects.proxmox import conf, cpu_option
from unmask.errors import InputError
from unmask.lab.edition import Edition
from unmask.lab.parameters import Parameter

CONFIG = (
    "VM.Config.Disk", "VM.Config.CDROM", "VM.Config.CPU", "VM.Config.Memory", "VM.Config.Network",
    "VM.Config.HWType", "VM.Config.Options", "VM.Config.Cloudinit",
)  # fmt: skip
"""Any one of these lets somebody try to change a configuration."""

PRIVILEGES: Mapping[str, str] = {
    "VM.Config.CPU": "affinity cores cpu cpulimit cpuunits numa sockets vcpus",
    "VM.Config.Memory": "balloon memory shares",
    "VM.Config.HWType": "acpi audio0 hotplug kvm machine rng0 scsihw smbios1 tablet vga watchdog",
    "VM.Config.Options": (
        "agent autostart bios description freeze keyboard localtime migrate_downtime migrate_speed"
        " name onboot ostype protection reboot startdate startup tags tdf template"
    ),
    "VM.Config.Disk": "boot bootdisk efidisk0 tpmstate0 vmstatestorage",
    "VM.Config.Network": "nameserver searchdomain",
    "VM.Config.Cloudinit": "cicustom cipassword citype ciupgrade ciuser sshkeys",
}
NUMBERED = {
    "numa": "VM.Config.CPU", "net": "VM.Config.Network", "ipconfig": "VM.Config.Cloudinit",
    "scsi": "VM.Config.Disk", "virtio": "VM.Config.Disk", "sata": "VM.Config.Disk",
    "ide": "VM.Config.Disk", "serial": "VM.Config.HWType", "unused": "VM.Config.Disk",
}  # fmt: skip
"""Options that end in a number, by their name without it."""

ROOT_ONLY = ("args", "arch", "hookscript", "hugepages", "keephugepages", "lock", "vmgenid")
"""Nobody but root@pam with a ticket may set these."""

AT_ONCE = frozenset(
    [
        "balloon",
        "cpulimit",
        "cpuunits",
        "description",
        "hookscript",
        "lock",
        "migrate_downtime",
        "migrate_speed",
        "name",
        "onboot",
        "protection",
        "shares",
        "startup",
        "tags",
        "vmstatestorage",
    ]
)
"""What a running guest takes on without a restart."""

SYSTEMS = (
    "other", "wxp", "w2k", "w2k3", "w2k8", "wvista", "win7", "win8", "win10", "win11", "l24",
    "l26", "solaris",
)  # fmt: skip
MACHINE = re.compile(r"pc|q35|virt|pc(-i440fx|-q35)?-\d+(\.\d+)+(\+pve\d+)?|virt(-\d+(\.\d+)+)?")
LIMITS = {"cores": (1, None), "sockets": (1, None), "vcpus": (1, None), "balloon": (0, None)}
LEAST_MEMORY = 16
"""MiB."""


def privilege(option: str) -> str:
    """Return the privilege that setting `option` takes, "" where only root may."""
    for name, words in PRIVILEGES.items():
        if option in words.split():
            return name
    return NUMBERED.get(option.rstrip("0123456789"), "") if option[-1:].isdigit() else ""


def known(option: str) -> bool:
    """Return whether there is such an option."""
    return bool(privilege(option)) or option in ROOT_ONLY


def schema(
    given: Collection[str], models: Collection[str], edition: Edition
) -> dict[str, Parameter]:
    """Return the parameters for the options among `given`.

    Args:
        given: Names of parameters.
        models: The custom CPU models that exist.
        edition: Decides which CPUs and flags validate.
    """
    return {name: _parameter(name, models, edition) for name in given if known(name)}


def _parameter(option: str, models: Collection[str], edition: Edition) -> Parameter:
    if option == "cpu":
        return Parameter(faulty=lambda text: cpu_fault(text, models, edition))
    if option in conf.BOOLEAN:
        return Parameter("boolean")
    if option == "memory":
        old = not edition.since("8.0")
        return Parameter("integer", least=LEAST_MEMORY) if old else Parameter(faulty=_bad_memory)
    if option in conf.INTEGER:
        least, most = LIMITS.get(option, (None, None))
        return Parameter("integer", least=least, most=most)
    return _worded(option)


def _worded(option: str) -> Parameter:
    match option:
        case "ostype":
            return Parameter(words=SYSTEMS)
        case "arch":
            return Parameter(words=("x86_64", "aarch64"))
        case "bios":
            return Parameter(words=("seabios", "ovmf"))
        case "name":
            return Parameter(faulty=_bad_name)
        case "machine":
            return Parameter(faulty=_bad_machine)
        case "description":
            return Parameter(longest=8192)
    return Parameter(faulty=_several_lines)


def _several_lines(text: str) -> str:
    return "value must be a single line" if "\n" in text else ""


def cpu_fault(text: str, models: Collection[str], edition: Edition) -> str:
    """Return what the API says against a value of `cpu`, "" for nothing."""
    try:
        cpu_option.parse(text, models, edition.version)
    except InputError as error:
        return f"invalid format - {_prefixed(str(error))}\n"
    return ""


def _prefixed(said: str) -> str:
    """Name the property in front of each fault, as the API does and the log does not."""
    head, *faults = said.split("\n")
    found = [head]
    for fault in faults:
        # A format of its own (phys-bits) ends its text with a newline, and one more is added.
        own = "\n" if ": invalid format - " in fault else ""
        found.append(f"cpu.{fault}{own}")
    return "\n".join(found)


def _bad_memory(text: str) -> str:
    value = text.removeprefix("current=")
    if not re.fullmatch("[0-9]+", value):
        said = f"type check ('integer') failed - got '{value}'"
    elif int(value) < LEAST_MEMORY:
        said = f"value must have a minimum value of {LEAST_MEMORY}"
    else:
        return ""
    return f"invalid format - format error\nmemory.current: {said}\n"


def _bad_name(text: str) -> str:
    good = conf.HOST_NAME.fullmatch(text)
    return "" if good else "invalid format - value does not look like a valid DNS name\n"


def _bad_machine(text: str) -> str:
    pattern = "machine.type: value does not match the regex pattern\n"
    kind = text.partition(",")[0].removeprefix("type=")
    return "" if MACHINE.fullmatch(kind) else f"invalid format - format error\n{pattern}"
