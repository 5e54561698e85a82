"""Windows: processors and memory."""

from __future__ import annotations

from unmask.model.inside import Resources
from unmask.probes._probe import Probe, Shell
from unmask.probes._section import Section
from unmask.probes._windows import record, whole

COMMAND = """\
$os = Get-CimInstance Win32_OperatingSystem
show @{ processors = [Environment]::ProcessorCount; memory = [int64]$os.TotalVisibleMemorySize
    available = [int64]$os.FreePhysicalMemory }
"""


def parse(section: Section) -> Resources:
    """Return what there is.

    Raises:
        InputError: Windows does not tell.
    """
    values = record(section)
    return Resources(
        processors=whole(values, "processors"),
        memory=whole(values, "memory"),
        available=whole(values, "available"),
    )


PROBE = Probe("resources", COMMAND, parse, shell=Shell.POWERSHELL)
