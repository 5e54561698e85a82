"""The program for Windows, which is not run here, and what is made of its answer."""

from __future__ import annotations

import base64
import json

import pytest

from support import probe_case
from unmask.model.reading import Known, Missing
from unmask.probes import _reading, _windows
from unmask.probes._probe import Shell

MARK = "unmask0123456789abcdef"
PROBES = _reading.probes(Shell.POWERSHELL)


def answer(*, administrator: bool = True) -> bytes:
    """Return what the program prints in a guest of which each probe's first case is true."""
    text = f"\r\n{MARK} user\r\n{0 if administrator else 1}\r\n"
    for module, probe in probe_case.probes().items():
        if probe.shell is not Shell.POWERSHELL:
            continue
        text += f"\r\n{MARK} {probe.name}\r\n"
        if probe.needs_root and not administrator:
            text += f"\r\n{MARK} = denied\r\n"
        else:
            text += f"{probe_case.cases(module)[0]['content']}\r\n\r\n{MARK} = 0\r\n"
    return (text + f"\r\n{MARK} end\r\n").encode()


def test_an_administrator_reads_everything() -> None:
    inside = _reading.read(answer(), MARK, PROBES)
    assert inside.root is True
    assert inside.system.value.name == "Windows 11 Pro"
    assert inside.cpu.value.family == 15
    assert [item.method for item in inside.bitlocker.value if item.encrypted] == [
        "XTS-AES-128",
        "AES-CBC-256",
    ]
    assert inside.partial == ()
    assert inside.dm_crypt == Missing("nobody has looked inside the guest")


def test_a_user_reads_no_bitlocker() -> None:
    inside = _reading.read(answer(administrator=False), MARK, PROBES)
    assert inside.bitlocker.known is False
    assert isinstance(inside.system, Known)


def test_the_program_asks_for_nothing_secret_and_changes_nothing() -> None:
    program = _windows.script(MARK, PROBES)
    assert program.count(f"$mark = '{MARK}'") == 1
    for word in (
        "KeyProtector",
        "RecoveryPassword",
        "NumericalPassword",
        "Set-",
        "Remove-",
        "New-Item",
    ):
        assert word not in program
    assert program.count("{") == program.count("}")
    assert program.count("(") == program.count(")")
    assert [f"section '{probe.name}'" in program for probe in PROBES] == [True] * len(PROBES)
    assert "uname" not in program


def test_the_command_line_holds_the_program() -> None:
    program = _windows.script(MARK, PROBES)
    words = _windows.arguments(program)
    assert words[0] == "powershell.exe"
    assert base64.b64decode(words[-1]).decode("utf-16-le") == program
    with pytest.raises(ValueError, match="longer"):
        _windows.arguments(program * 4)


def test_a_mark_is_plain() -> None:
    with pytest.raises(ValueError, match="mark"):
        _windows.script("'; evil", PROBES)


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000, '"text"', "null", "1e999"])
def test_what_is_no_object_is_missing(text: str) -> None:
    raw = f"\n{MARK} user\n0\n\n{MARK} system\n{text}\n{MARK} = 0\n\n{MARK} end\n".encode()
    reading = _reading.read(raw, MARK, PROBES).system
    assert reading == Missing("PowerShell in the guest printed nothing that can be read")


def test_values_of_other_types_are_left_out() -> None:
    wild = {"version": "10.0.1", "caption": [1], "build": 7, "machine": None, "uptime": -5}
    raw = f"\n{MARK} system\n{json.dumps(wild)}\n{MARK} = 0\n".encode()
    system = _reading.read(raw, MARK, PROBES).system.value
    assert (system.name, system.version, system.machine, system.uptime) == ("", "1", "", None)
