"""The CPU as the guest's kernel shows it."""

from __future__ import annotations

from dataclasses import replace

from unmask.dialects import cpuinfo
from unmask.errors import InputError
from unmask.model.cpu import HostCpu
from unmask.probes._probe import Probe
from unmask.probes._section import Section

# One block of /proc/cpuinfo and the distinct lines of flags: all that hundreds of processors say.
COMMAND = """\
if [ -f proc/cpuinfo ]; then
    part cpuinfo
    sed '/^[[:space:]]*$/q' proc/cpuinfo
    grep -E -i '^(flags|features)[[:space:]]*:' proc/cpuinfo | sort -u
fi
part lscpu
if ! grep -q -E '^model name' proc/cpuinfo; then
    lscpu
fi
part machine
uname -m
if [ -f var/run/dmesg.boot ]; then
    part dmesg
    grep -E '^CPU: |^ +(Origin|.*Features[23]?=)|^(aesni|padlock|armv8crypto|ossl)[0-9]+:' \\
        var/run/dmesg.boot
fi
"""


def parse(section: Section) -> HostCpu:
    """Return the CPU.

    Raises:
        InputError: The guest shows none, or nothing that describes one.
    """
    machine = {"amd64": "x86_64", "i386": "i686", "arm64": "aarch64"}.get(
        section.first("machine"), section.first("machine")
    )
    if section.first("cpuinfo"):
        cpu = cpuinfo.parse(section.text("cpuinfo"), machine)
    elif section.first("dmesg"):
        return cpuinfo.parse(section.text("dmesg"), machine)
    elif section.first("lscpu"):
        return cpuinfo.parse(section.text("lscpu"), machine)
    else:
        raise InputError("the guest has no /proc/cpuinfo and no boot messages")
    if not cpu.model_name and section.first("lscpu"):
        shown = cpuinfo.parse(section.text("lscpu"), machine)
        cpu = replace(cpu, model_name=shown.model_name, vendor=cpu.vendor or shown.vendor)
    return cpu


PROBE = Probe("cpu", COMMAND, parse, limit=256 * 1024)
