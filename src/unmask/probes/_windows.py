"""The program that runs in a Windows guest, and the JSON objects that it prints.

For Windows PowerShell 5.1 and later. Each section is one JSON object, framed like those of the
POSIX script. Nothing limits a section's time there: the caller bounds the whole.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

from unmask.dialects import framed
from unmask.errors import InputError
from unmask.probes._probe import Probe, Shell
from unmask.probes._section import Section

LIMIT = 32_000
"""Characters of a Windows command line (CreateProcess takes 32,767)."""

_HEAD = """\
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
[Console]::OutputEncoding = New-Object System.Text.UTF8Encoding $false
$mark = '{mark}'
$me = [Security.Principal.WindowsPrincipal][Security.Principal.WindowsIdentity]::GetCurrent()
$root = $me.IsInRole([Security.Principal.WindowsBuiltInRole]::Administrator)
function put($text) {{ [Console]::Out.Write("$text`n") }}
function show($value) {{ put (ConvertTo-Json -Compress -Depth 4 $value) }}
function section($name, $limit, $needs, $body) {{
    put "`n$mark $name"
    if ($needs -and -not $root) {{ put "`n$mark = denied"; return }}
    $code = 0
    $text = ''
    try {{
        $old = [Console]::Out
        $buffer = New-Object IO.StringWriter
        [Console]::SetOut($buffer)
        try {{ & $body }} finally {{ [Console]::SetOut($old) }}
        $text = $buffer.ToString()
        if ($text.Length -gt $limit) {{ $text = $text.Substring(0, $limit) }}
    }} catch {{ $code = 1 }}
    put $text
    put "`n$mark = $code"
}}
put "`n$mark user"
put $(if ($root) {{ 0 }} else {{ 1 }})
"""


def script(mark: str, probes: Sequence[Probe]) -> str:
    """Return the program; probes for other shells are left out.

    Raises:
        ValueError: The mark is not at least 16 letters and digits.
    """
    sections = [
        f"section '{probe.name}' {probe.limit + 1} {_truth(probe)} {{\n{probe.command}}}\n"
        for probe in probes
        if probe.shell is Shell.POWERSHELL
    ]
    return _HEAD.format(mark=framed.checked(mark)) + "".join(sections) + 'put "`n$mark end"\n'


def _truth(probe: Probe) -> str:
    return "$true" if probe.needs_root is True else "$false"


def arguments(program: str) -> list[str]:
    """Return the command line that runs a program, which is in it whole and needs no quoting.

    Raises:
        ValueError: It is longer than Windows takes.
    """
    words = ["powershell.exe", "-NoProfile", "-NonInteractive", "-EncodedCommand"]
    words.append(base64.b64encode(program.encode("utf-16-le")).decode("ascii"))
    if sum(map(len, words)) > LIMIT:
        raise ValueError("the program for Windows is longer than a command line")
    return words


def record(section: Section) -> dict[str, Any]:
    """Return the JSON object that a section holds.

    Raises:
        InputError: It holds none.
    """
    try:
        value = json.loads(section.text().strip().lstrip("?"))
    except (ValueError, RecursionError) as error:
        raise InputError("PowerShell in the guest printed nothing that can be read") from error
    if not isinstance(value, dict):
        raise InputError("PowerShell in the guest printed nothing that can be read")
    return value


def text_of(values: Mapping[str, Any], key: str) -> str:
    """Return a text, stripped; "" for anything else."""
    value = values.get(key)
    return value.strip()[:300] if isinstance(value, str) else ""


def whole(values: Mapping[str, Any], key: str) -> int | None:
    """Return an integer from 0 to 2**53; None for anything else."""
    value = values.get(key)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53:
        return value
    return None


def words(values: Mapping[str, Any], key: str) -> list[str]:
    """Return the texts of a list; PowerShell makes a bare value of a list of one."""
    value = values.get(key)
    listed = value if isinstance(value, list) else [value]
    return [item for item in listed[:200] if isinstance(item, str)]
