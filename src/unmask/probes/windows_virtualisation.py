"""Windows: maker and product of the machine as its firmware names them."""

from __future__ import annotations

from unmask.model.inside import Virtualisation
from unmask.probes._probe import Probe, Shell
from unmask.probes._section import Section
from unmask.probes._windows import record, text_of

COMMAND = """\
$machine = Get-CimInstance Win32_ComputerSystem
show @{ vendor = $machine.Manufacturer; product = $machine.Model
    hypervisor = [bool]$machine.HypervisorPresent }
"""


def parse(section: Section) -> Virtualisation:
    """Return what is known.

    Raises:
        InputError: Windows does not tell.
    """
    values = record(section)
    return Virtualisation(
        vendor=text_of(values, "vendor"),
        product=text_of(values, "product"),
        hypervisor_flag=values.get("hypervisor") is True,
    )


PROBE = Probe("virtualisation", COMMAND, parse, shell=Shell.POWERSHELL)
