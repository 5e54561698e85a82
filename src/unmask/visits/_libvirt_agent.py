"""Run a program in a guest through libvirt and the QEMU guest agent.

What the agent says comes out of the guest and is believed in nothing: a broken answer ends the
attempt. An agent's answer over 10 MiB would make libvirt give that agent up until the guest is
stopped and started (observed with libvirt 9.0), and one over 4 MiB is lost; the output is therefore
cut in the guest, before the agent has it.
"""

from __future__ import annotations

import base64
import binascii
import time
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from unmask.errors import UnreadError
from unmask.visits._channel import NoWayError

MOST_BYTES = 3_000_000
"""Of output: four thirds of it, and the words around, have to be within libvirt's 4 MiB."""
ANSWER_SECONDS = 10.0
"""In which an agent has to answer; one in an emulated guest takes 0.1 s."""
FIRST_PAUSE, LAST_PAUSE = 0.05, 1.0
"""Seconds between two questions whether the program has ended."""

CUT = """\
if printf x | head -c 1 >/dev/null 2>&1; then
    "$@" 2>/dev/null | head -c {limit}
else
    "$@" 2>/dev/null
fi"""
"""Runs a program and lets at most so many bytes out; some small systems' `head` knows no -c."""

STRANGE = "its guest agent answers in a way that is none of an agent's"


class Commands(Protocol):
    """Who sends a guest agent its commands: `unmask.connect.libvirt_guest.DomainAccess`."""

    def agent(
        self, command: str, arguments: Mapping[str, object] | None = None, seconds: float = 5.0
    ) -> Any:
        """Return what a command returns; raises `UnreadError`."""


class LibvirtAgent:
    """The guest agent of one domain; see `unmask.visits._channel.Agent`."""

    def __init__(self, commands: Commands) -> None:
        self._commands = commands

    def system(self) -> str:
        """Return `guest-get-osinfo`'s id, "" where an older or stricter agent does not tell.

        Raises:
            NoWayError: The agent does not answer.
        """
        self._ask("guest-ping", {}, ANSWER_SECONDS)
        try:
            told = self._commands.agent("guest-get-osinfo", None, ANSWER_SECONDS)
        except UnreadError:
            return ""
        ident = told.get("id") if isinstance(told, dict) else None
        return ident[:64] if isinstance(ident, str) and ident.isprintable() else ""

    def run(self, argv: Sequence[str], stdin: bytes, seconds: float, limit: int) -> bytes:
        """Run a program in the guest and return its standard output, whatever its exit status.

        It is not ended when its time is over: it has to end by itself.

        Raises:
            NoWayError: The agent does not run, may not run programs, or did not answer in time.
        """
        end = time.monotonic() + seconds
        command = cut(argv, min(limit, MOST_BYTES))
        started = self._ask(
            "guest-exec",
            {
                "path": command[0],
                "arg": list(command[1:]),
                "input-data": base64.b64encode(stdin).decode("ascii"),
                "capture-output": True,
            },
            min(ANSWER_SECONDS, seconds),
        )
        pid = started.get("pid")
        if not isinstance(pid, int) or isinstance(pid, bool):
            raise NoWayError(STRANGE)
        return _output(self._ended(pid, end, seconds), limit)

    def _ended(self, pid: int, end: float, seconds: float) -> dict[str, Any]:
        """Return the status of a program that has ended; the agent gives it only once."""
        pause = FIRST_PAUSE
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(pause, left))
            pause = min(2 * pause, LAST_PAUSE)
            status = self._ask("guest-exec-status", {"pid": pid}, ANSWER_SECONDS)
            if status.get("exited") is True:
                return status
        raise NoWayError(f"the program in the guest did not end within {seconds:.3g} s")

    def _ask(self, command: str, arguments: Mapping[str, object], seconds: float) -> dict[str, Any]:
        try:
            told = self._commands.agent(command, arguments, seconds)
        except UnreadError as error:
            raise NoWayError(error.reason, error.needs) from error
        if not isinstance(told, dict):
            raise NoWayError(STRANGE)
        return told


def cut(argv: Sequence[str], limit: int) -> list[str]:
    """Return the command that runs `argv` and lets at most `limit` bytes out of the guest.

    On Windows, where there is no shell for it, the program has to keep to the limit itself.
    """
    if argv[0].lower().endswith(".exe"):
        return list(argv)
    return ["/bin/sh", "-c", CUT.format(limit=int(limit)), "sh", *argv]


def _output(status: Mapping[str, object], limit: int) -> bytes:
    data = status.get("out-data", "")
    if not isinstance(data, str):
        raise NoWayError(STRANGE)
    try:
        return base64.b64decode(data, validate=True)[:limit]
    except (binascii.Error, ValueError) as error:
        raise NoWayError(STRANGE) from error
