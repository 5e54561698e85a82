"""Run the probes in a guest by SSH, with one command, whatever shell its user has."""

from __future__ import annotations

import base64
import re
import secrets
from collections.abc import Collection, Sequence

from unmask.connect.ssh_address import PORT, Address
from unmask.connect.ssh_errors import SshError
from unmask.connect.ssh_session import ExecResult, Limit, Session
from unmask.model.inside import Inside
from unmask.probes import _reading, _script, _windows
from unmask.probes._probe import Probe, Shell
from unmask.probes._section import printable

SUDO = "/bin/sh -c 'sudo -n /bin/sh -s || exec /bin/sh -s'"
"""The same for a user who may become root without a password, and for one who may not after all:
sudo then ends before it has read anything."""

WINDOWS = "for_Windows"
"""In the name that Microsoft's build of OpenSSH gives itself."""
_BOOTSTRAP = '& ([ScriptBlock]::Create(@($input) -join "`n"))'
"""Runs what comes in: the program is too long for a command line of cmd.exe (8,191 characters)."""
POWERSHELL = "powershell.exe -NoProfile -NonInteractive -EncodedCommand " + base64.b64encode(
    _BOOTSTRAP.encode("utf-16-le")
).decode("ascii")

STDERR = 64 * 1024
FIRST = 4096
"""Bytes of an output that is none of ours in which its first line is looked for."""
SPARE = 1
"""Seconds for the way there and back."""

MORE_TIME = "more time: --timeout, for guests of a hypervisor --guest-timeout"
_NO_SHELL = "a user whose login shell runs commands"
_KNOWN: tuple[tuple[str, str, str], ...] = (
    (r"allows sftp connections only", "the server lets this user transfer files only", _NO_SHELL),
    (
        r"account is (currently )?not available|nologin",
        "this user's account has no login shell",
        _NO_SHELL,
    ),
    (r": restricted\b", "this user's shell is a restricted one", _NO_SHELL),
    (r"[Pp]assword .*expired|change your password", "this user's password has expired", ""),
    (r"/bin/sh: .*([Nn]o such file|not found)", "it has no /bin/sh", ""),
)
"""What a server says instead of running the program, as patterns; the reason, and what it needs.

OpenSSH (session.c: sftp only), Debian's and FreeBSD's nologin, bash (restricted), Linux-PAM.
"""

_NOT_POSIX = re.compile(
    r"is not recognized as|CommandNotFoundException|cannot find the path specified", re.IGNORECASE
)
"""What cmd.exe and PowerShell say of /bin/sh."""


def read(
    session: Session, seconds: float, *, sudo: bool = False, only: Collection[str] = ()
) -> Inside:
    """Return what the probes find in the guest that one is logged in to.

    Args:
        session: The guest.
        seconds: What it may take; the program in the guest ends by itself before that.
        sudo: Become root with sudo where that takes no password.
        only: The names of the probes to run; none for all.

    Raises:
        TargetError: It runs no program of ours, which says why, or nothing came back in time.
    """
    if WINDOWS in session.software:
        return _by_powershell(session, seconds)
    probes = _reading.probes(Shell.POSIX, only)
    mark = _mark()
    # The program stops beginning sections in time for the last one to end.
    total = max(int(seconds) - _script.most_seconds(probes, 0) - SPARE, 1)
    program = _script.script(mark, probes, seconds=total).encode()
    limit = Limit(_script.most_bytes(probes), STDERR)
    command = SUDO if sudo else _script.COMMAND
    result = session.run(command, program, seconds, limit, partial_too=True)
    inside = _answer(session, result, mark, probes)
    if inside is not None:
        return inside
    if _NOT_POSIX.search(_text(result.stderr + result.stdout)):
        return _by_powershell(session, seconds)
    raise _refusal(session, result, mark)


def reader(user: str, door: Address, inside: Inside, *, sudo: bool) -> str:
    """Return as whom a guest was read: "root@10.0.0.7:22"."""
    said = str(Address(door.host, user, door.port or PORT))
    if not sudo or user == "root":
        return said
    return f"{said} with sudo" if inside.root else f"{said}, whom sudo does not make root"


def _by_powershell(session: Session, seconds: float) -> Inside:
    probes = _reading.probes(Shell.POWERSHELL)
    mark = _mark()
    program = _windows.script(mark, probes).encode()
    limit = Limit(sum(probe.limit for probe in probes) + FIRST, STDERR)
    result = session.run(POWERSHELL, program, seconds, limit, partial_too=True)
    inside = _answer(session, result, mark, probes)
    if inside is None:
        raise _refusal(session, result, mark)
    return inside


def _mark() -> str:
    return f"unmask{secrets.token_hex(16)}"


def _answer(
    session: Session, result: ExecResult, mark: str, probes: Sequence[Probe]
) -> Inside | None:
    """Return what was read; None where the program has not even begun.

    Raises:
        SshError: It has begun, and nothing has come of it.
    """
    inside = _reading.read(result.stdout, mark, probes)
    if inside.root is None:
        return None
    if any(getattr(inside, probe.name).known for probe in probes):
        return inside
    if result.unfinished:
        raise SshError(session.where, "the program in it did not end in time", MORE_TIME)
    raise SshError(session.where, "the program in it told nothing that can be read")


def _refusal(session: Session, result: ExecResult, mark: str) -> SshError:
    """Return why there is no answer, in the words of whoever gave another one."""
    said = _text(result.stderr + b"\n" + result.stdout)
    if mark.encode() in result.stdout:
        reason = "it sends the program back instead of running it"
        return SshError(session.where, reason, _NO_SHELL)
    if result.unfinished:
        what = "it runs something else than our program, which" if said.strip() else "the program"
        return SshError(session.where, f"{what} did not end in time", MORE_TIME)
    for pattern, reason, needs in _KNOWN:
        if re.search(pattern, said):
            return SshError(session.where, reason, needs)
    line = next((line.strip() for line in said.splitlines() if line.strip()), "")
    if line:
        reason = f"it runs something else than our program: {line[:200]}"
    elif result.status == 127:  # POSIX: a command that is not there
        reason = "it has no /bin/sh"
    else:
        ended = f"ended with {result.status}" if result.status >= 0 else "was ended"
        reason = f"this user's shell printed nothing and {ended}"
    return SshError(session.where, reason, _NO_SHELL)


def _text(output: bytes) -> str:
    return printable(output[:FIRST].decode("utf-8", errors="replace"))
