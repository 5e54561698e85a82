"""Windows: edition, build and uptime."""

from __future__ import annotations

import re

from unmask.errors import InputError
from unmask.model.inside import System
from unmask.probes._probe import Probe, Shell
from unmask.probes._section import Section
from unmask.probes._windows import record, text_of, whole

COMMAND = """\
$os = Get-CimInstance Win32_OperatingSystem
$age = [int64]((Get-Date) - $os.LastBootUpTime).TotalSeconds
show @{ caption = $os.Caption; version = $os.Version; build = $os.BuildNumber
    machine = $env:PROCESSOR_ARCHITECTURE; uptime = $age }
"""


def parse(section: Section) -> System:
    """Return the system.

    Raises:
        InputError: Windows does not tell.
    """
    values = record(section)
    caption, version = text_of(values, "caption"), text_of(values, "version")
    if not version:
        raise InputError("Windows does not tell its version")
    machines = {"AMD64": "x86_64", "ARM64": "aarch64", "X86": "i686"}
    machine = text_of(values, "machine").upper()
    return System(
        kernel_name="Windows",
        kernel=version,
        machine=machines.get(machine, machine),
        ident="windows",
        version=text_of(values, "build") or version.rpartition(".")[2],
        name=re.sub(r"^Microsoft ", "", caption),
        uptime=whole(values, "uptime"),
    )


PROBE = Probe("system", COMMAND, parse, shell=Shell.POWERSHELL)
