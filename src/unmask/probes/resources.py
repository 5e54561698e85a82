"""Processors, memory, load, and the time that the host gave to others."""

from __future__ import annotations

import re

from unmask.model.inside import Resources
from unmask.probes._probe import Probe
from unmask.probes._section import Section
from unmask.probes._words import number

COMMAND = """\
part processors
nproc || sysctl -n hw.ncpu || grep -c '^processor' proc/cpuinfo
part memory
grep -E '^Mem(Total|Available)' proc/meminfo
part bytes
sysctl -n hw.physmem
part load
cat proc/loadavg || sysctl -n vm.loadavg
part stat
grep '^cpu ' proc/stat
"""

_STEAL = 7
"""Position among the numbers of the line "cpu" (proc_stat(5)); guest time is part of user time."""


def parse(section: Section) -> Resources:
    """Return what there is."""
    memory = dict(re.findall(r"^(\w+):\s+(\d{1,15}) kB", section.text("memory"), re.MULTILINE))
    total = number(memory.get("MemTotal", ""))
    if total is None and (size := number(section.first("bytes"))) is not None:
        total = size // 1024
    load = re.findall(r"\b\d{1,9}\.\d{1,9}\b", section.first("load"))[:3]
    return Resources(
        processors=number(section.first("processors")),
        memory=total,
        available=number(memory.get("MemAvailable", "")),
        load=" ".join(load) if len(load) == 3 else "",
        steal_permille=_steal(section.first("stat")),
    )


def _steal(line: str) -> int | None:
    ticks = [number(word) for word in line.split()[1:9]]
    known = [tick for tick in ticks if tick is not None]
    if len(known) <= _STEAL or not sum(known):
        return None
    return known[_STEAL] * 1000 // sum(known)


PROBE = Probe("resources", COMMAND, parse)
