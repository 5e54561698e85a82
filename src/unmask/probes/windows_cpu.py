"""Windows: the CPU's name, vendor and family, and its features where PowerShell 7 can tell them."""

from __future__ import annotations

import re

from unmask.errors import InputError
from unmask.model.cpu import HostCpu
from unmask.probes._probe import Probe, Shell
from unmask.probes._section import Section
from unmask.probes._windows import record, text_of, words

# Windows has no documented way to ask for AES without a compiled call; .NET 5 and later have one.
COMMAND = """\
$key = 'HKLM:\\HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0'
$cpu = Get-ItemProperty $key
$on = @()
$types = @{ aes = 'Aes'; pclmulqdq = 'Pclmulqdq'; ssse3 = 'Ssse3'; sse4_1 = 'Sse41'
    sse4_2 = 'Sse42'; popcnt = 'Popcnt'; avx = 'Avx'; avx2 = 'Avx2'; bmi1 = 'Bmi1'; bmi2 = 'Bmi2'
    abm = 'Lzcnt'; fma = 'Fma'; avx512f = 'Avx512F' }
$told = $false
foreach ($flag in $types.Keys) {
    $type = "System.Runtime.Intrinsics.X86.$($types[$flag])" -as [type]
    if ($type) {
        $told = $true
        if ($type::IsSupported) { $on += $flag }
    }
}
show @{ name = $cpu.ProcessorNameString; vendor = $cpu.VendorIdentifier
    identifier = $cpu.Identifier; told = $told; flags = $on }
"""

_IDENTIFIER = re.compile(r"Family (\d{1,3}) Model (\d{1,3}) Stepping (\d{1,3})")


def parse(section: Section) -> HostCpu:
    """Return the CPU; `complete` is always False, since most flags cannot be asked for.

    Raises:
        InputError: The registry does not describe one.
    """
    values = record(section)
    identifier = text_of(values, "identifier")
    if not identifier and not text_of(values, "name"):
        raise InputError("Windows does not tell its CPU")
    match = _IDENTIFIER.search(identifier)
    arch = "aarch64" if identifier.startswith("ARM") else "x86_64"
    return HostCpu(
        arch=arch,
        flags=frozenset(words(values, "flags")),
        vendor=text_of(values, "vendor"),
        model_name=" ".join(text_of(values, "name").split()),
        family=int(match[1]) if match else None,
        model=int(match[2]) if match else None,
        stepping=int(match[3]) if match else None,
        complete=False,
    )


PROBE = Probe("cpu", COMMAND, parse, shell=Shell.POWERSHELL)
