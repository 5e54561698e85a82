"""Look into a guest through its QEMU guest agent, whichever hypervisor passes the words on.

One program is run, which reads all that there is to read. Its answer comes whole and at its end, so
that the program is told to end before the time is over. What the agent answers is the guest's word:
an agent that lies costs its own guest's result only.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from unmask.model.inside import Inside
from unmask.probes import _reading, _script, _windows
from unmask.probes._probe import Probe, Shell
from unmask.probes._sections import split
from unmask.visits._channel import Agent, NoWayError

BY = "the guest agent"
WINDOWS = "mswindows"
"""What guest-get-osinfo calls Windows (qga/qapi-schema.json)."""
MARGIN = 3.0
"""Seconds for the answer's way here."""
ENOUGH = 8
"""Seconds in which every section has begun, but on a guest that is very slow."""
WINDOWS_BYTES = 1024 * 1024
"""Of PowerShell's answer: five sections of 64 KiB, each character up to three bytes."""


@dataclass(frozen=True, slots=True)
class Program:
    """What is run in the guest."""

    argv: tuple[str, ...]
    stdin: bytes
    limit: int
    """Bytes that its answer may have."""


def look(agent: Agent, seconds: float, only: Collection[str] = ()) -> tuple[Inside, str]:
    """Return what the agent's guest tells of itself, and by whom it was told.

    Args:
        agent: Of a running guest.
        seconds: That all of it may take.
        only: The names of the probes to run; none for all.

    Raises:
        NoWayError: The agent does not run, may not run programs, does not answer in time, or its
            answer is none.
    """
    end = time.monotonic() + seconds
    shell = Shell.POWERSHELL if agent.system() == WINDOWS else Shell.POSIX
    chosen = _reading.probes(shell, () if shell is Shell.POWERSHELL else only)
    mark = secrets.token_hex(16)
    left = max(end - time.monotonic(), 1.0)
    made = program(mark, chosen, shell, left)
    output = agent.run(made.argv, made.stdin, left, made.limit)
    sections = split(output[: made.limit], mark, chosen)
    if not sections.found:
        raise NoWayError(f"{_name(shell)} in the guest printed nothing that could be read")
    return _reading.inside(sections, chosen), BY


def program(mark: str, chosen: Sequence[Probe], shell: Shell, seconds: float) -> Program:
    """Return the program for a shell, which ends by itself within so many seconds."""
    if shell is Shell.POWERSHELL:
        argv = _windows.arguments(_windows.script(mark, chosen))
        return Program(tuple(argv), b"", WINDOWS_BYTES)
    text = _script.script(mark, chosen, seconds=_last_begin(chosen, seconds))
    argv = _script.COMMAND.split()
    return Program(tuple(argv), text.encode(), _script.most_bytes(chosen))


def _last_begin(chosen: Sequence[Probe], seconds: float) -> int:
    """Return after how many seconds no section begins any more, so that all ends in time.

    Where that would leave next to nothing, it is half of the time: most commands end at once, and
    the answer is lost only where one of the last does not.
    """
    sure = int(seconds - MARGIN - _script.most_seconds(chosen, 0))
    begin = sure if sure >= ENOUGH else int(seconds / 2)
    return min(_script.TOTAL_SECONDS, max(begin, 1))


def _name(shell: Shell) -> str:
    return "PowerShell" if shell is Shell.POWERSHELL else "the shell"
