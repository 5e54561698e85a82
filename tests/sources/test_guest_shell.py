"""The one command that runs in a guest by SSH: what it is, and as whom it has run."""

from __future__ import annotations

import base64
import shutil
import subprocess

import pytest

from unmask.connect.ssh_address import Address
from unmask.model.inside import Inside
from unmask.probes import _reading, _script, _windows
from unmask.probes._probe import Shell
from unmask.sources._guest_shell import POWERSHELL, SUDO, reader

SHELLS = [name for name in ("sh", "dash", "bash", "zsh", "fish", "tcsh") if shutil.which(name)]


@pytest.mark.parametrize(
    ("user", "sudo", "root", "said"),
    [
        ("root", False, True, "root@db1:22"),
        ("root", True, True, "root@db1:22"),
        ("me", False, False, "me@db1:22"),
        ("me", True, True, "me@db1:22 with sudo"),
        ("me", True, False, "me@db1:22, whom sudo does not make root"),
        ("me", True, None, "me@db1:22, whom sudo does not make root"),
    ],
)
def test_it_is_said_as_whom_it_was_read(
    user: str, *, sudo: bool, root: bool | None, said: str
) -> None:
    assert reader(user, Address("db1", "other"), Inside(root=root), sudo=sudo) == said
    six = reader(user, Address("2001:db8::7", port=2222), Inside(root=root), sudo=sudo)
    assert "[2001:db8::7]:2222" in six


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("command", [_script.COMMAND, SUDO])
def test_every_shell_reads_the_command_alike(shell: str, command: str) -> None:
    """Without leave for sudo, or without sudo, the program still gets its input whole."""
    done = subprocess.run(
        [str(shutil.which(shell)), "-c", command],
        input=b"echo one\necho two\n",
        capture_output=True,
        check=False,
        env={"PATH": "/nowhere"},
    )
    assert done.stdout == b"one\ntwo\n"


def test_windows_is_given_a_short_command_and_the_program_as_input() -> None:
    program, _, encoded = POWERSHELL.rpartition(" ")
    assert program == "powershell.exe -NoProfile -NonInteractive -EncodedCommand"
    assert base64.b64decode(encoded).decode("utf-16-le") == (
        '& ([ScriptBlock]::Create(@($input) -join "`n"))'
    )
    assert len(POWERSHELL) < 8191, "what cmd.exe takes"
    written = _windows.script("a" * 16, _reading.probes(Shell.POWERSHELL))
    assert written.isascii(), "whatever code page the other side has"
