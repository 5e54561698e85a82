"""The ways into a machine that is measured: SSH, the guest agent, and this machine itself."""

from __future__ import annotations

import contextlib
import os
import secrets
import subprocess
import threading
import time
from dataclasses import dataclass
from typing import IO, Protocol, cast

from unmask.benches._plan import END_SECONDS
from unmask.connect.ssh_session import Limit, Session
from unmask.errors import TargetError
from unmask.model.inside import Inside
from unmask.probes import _reading, _script
from unmask.sources import _guest_shell
from unmask.visits import _agent
from unmask.visits._channel import Agent

COMMAND = _script.COMMAND
ERRORS = 64 * 1024
"""Bytes of error output that are kept."""


class Door(Protocol):
    """A way into one machine."""

    @property
    def way(self) -> str:
        """Return it in words: "ssh root@10.0.0.7:22", "the guest agent"."""

    @property
    def held(self) -> bool:
        """Return whether what runs there is told when nobody waits for it any more."""

    def look(self, seconds: float, only: frozenset[str]) -> Inside:
        """Return what the named probes read.

        Raises:
            UnmaskError: Nothing can be read there.
        """

    def run(self, program: str, end: bytes, seconds: float, limit: int) -> bytes:
        """Run a program of the shell and return what it printed, whole or not.

        Args:
            program: Its text.
            end: What it prints at its end.
            seconds: That it may take.
            limit: Bytes that are kept of what it prints.

        Raises:
            UnmaskError: It cannot be run, or nothing came of it.
        """


@dataclass(frozen=True, slots=True)
class SshDoor:
    """A machine that one is logged in to."""

    session: Session
    way: str
    sudo: bool = False
    """Become root where that takes no password."""
    held: bool = True

    def look(self, seconds: float, only: frozenset[str]) -> Inside:
        """Return what the named probes read."""
        return _guest_shell.read(self.session, seconds, only=only)

    def run(self, program: str, end: bytes, seconds: float, limit: int) -> bytes:
        """Run a program whose input ends when this program or the connection does."""
        command = _guest_shell.SUDO if self.sudo else COMMAND
        most = Limit(limit, ERRORS)
        result = self.session.run(
            command, program.encode(), seconds, most, partial_too=True, hold=end
        )
        return result.stdout


@dataclass(frozen=True, slots=True)
class AgentDoor:
    """A guest by way of its guest agent, which knows neither signals nor open inputs."""

    agent: Agent
    way: str = _agent.BY
    held: bool = False

    def look(self, seconds: float, only: frozenset[str]) -> Inside:
        """Return what the named probes read."""
        return _agent.look(self.agent, seconds, only)[0]

    def run(self, program: str, end: bytes, seconds: float, limit: int) -> bytes:  # noqa: ARG002
        """Run a program that nothing but its own end stops."""
        return self.agent.run(tuple(COMMAND.split()), program.encode(), seconds, limit)


@dataclass(frozen=True, slots=True)
class LocalDoor:
    """This machine."""

    way: str = "here"
    held: bool = True

    def look(self, seconds: float, only: frozenset[str]) -> Inside:
        """Return what the named probes read."""
        chosen = _reading.probes(only=only)
        mark = secrets.token_hex(16)
        text = _script.script(mark, chosen, seconds=max(int(seconds) // 2, 1))
        output = _local(text, seconds, _script.most_bytes(chosen), hold=False)
        return _reading.read(output, mark, chosen)

    def run(self, program: str, end: bytes, seconds: float, limit: int) -> bytes:  # noqa: ARG002
        """Run a program whose input ends when this program does."""
        return _local(program, seconds, limit, hold=True)


def _local(program: str, seconds: float, limit: int, *, hold: bool) -> bytes:
    """Run a program of this machine's shell and return what it has printed until its end or ours.

    Raises:
        TargetError: There is no shell.
    """
    end = time.monotonic() + seconds
    try:
        process = subprocess.Popen(
            COMMAND.split(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise TargetError(f"this machine: no shell can be started: {error.strerror}") from error
    given, printed = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
    heard = bytearray()
    listener = threading.Thread(target=_listen, args=(printed, heard, limit), daemon=True)
    try:
        listener.start()
        with contextlib.suppress(OSError):
            given.write(program.encode())
            given.flush()
            if not hold:
                given.close()
        listener.join(max(end - time.monotonic(), 0))
    finally:
        _let_go(process, given)
        listener.join(END_SECONDS)
        if not listener.is_alive():
            printed.close()
    return bytes(heard)


def _listen(printed: IO[bytes], heard: bytearray, limit: int) -> None:
    while len(heard) < limit and (block := os.read(printed.fileno(), 65536)):
        heard.extend(block[: limit - len(heard)])


def _let_go(process: subprocess.Popen[bytes], given: IO[bytes]) -> None:
    """Close a program's input, whose end tells it to stop, and wait until it has."""
    with contextlib.suppress(OSError):
        given.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=END_SECONDS)
    if process.poll() is None:
        process.kill()
        process.wait()
