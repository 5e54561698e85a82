"""A simulated guest with a guest agent: a table of files and of programs with their answers.

No program really runs. `cat` reads the table's files, every other command line answers what the
table says; a program that the table does not have is one that the guest does not have. The program
with which unmask looks into guests is answered by `guest_inside`.

Sources: the QEMU guest agent's errors as recorded; `guest-exec-status` forgets a finished process
once it has been asked for.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from unmask.lab import guest_inside
from unmask.lab.answer import Json, Refused
from unmask.lab.guest_inside import Inside

MOST = 16 * 1024**2
"""Bytes of output that the agent keeps (qga/commands.c)."""
NO_SUCH_PID = "Agent error: Invalid parameter 'pid'"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command line comes to."""

    out: bytes = b""
    err: bytes = b""
    exit: int = 0
    signal: int = 0
    """The signal that killed it, 0 for none."""
    seconds: float = 0.0
    """How long it runs, in real seconds."""


@dataclass(slots=True)
class GuestAgent:
    """The agent of one guest."""

    alive: bool = True
    """Whether it runs in the guest; the option `agent` alone starts nothing."""
    told: Mapping[str, Json] = field(default_factory=dict)
    """Answers of get-osinfo, get-host-name and so on, by the API's name of the command."""
    files: dict[str, bytes] = field(default_factory=dict)
    directories: frozenset[str] = frozenset({"/", "/etc", "/proc", "/tmp"})  # noqa: S108
    commands: dict[tuple[str, ...], Outcome] = field(default_factory=dict)
    cpuinfo: Callable[[], str] | None = None
    """Gives /proc/cpuinfo as the guest sees it now; None where `files` has it."""
    inside: Inside | None = None
    """What the guest tells whoever looks into it; None where it has no shell for that."""
    pace: float = 1.0
    _waiting: dict[int, tuple[float, Outcome]] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1201, 2))

    def restarted(self) -> None:
        """Forget what a restart of the guest ends."""
        self._waiting.clear()

    def run(self, argv: Sequence[str], typed: bytes = b"") -> int:
        """Start a program and return its process id.

        Raises:
            Refused: 596, as Proxmox does for a program that is not there: GLib's quotation marks
                do not fit into a reason phrase, and the worker drops the connection.
        """
        outcome = self._outcome(tuple(argv), typed)
        if outcome is None:
            raise Refused("Broken pipe", 596, empty=True, delay=5)
        pid = next(self._numbers)
        self._waiting[pid] = (time.monotonic() + outcome.seconds * self.pace, outcome)
        return pid

    def _outcome(self, argv: tuple[str, ...], typed: bytes) -> Outcome | None:
        if argv in self.commands:
            return self.commands[argv]
        if argv[:1] == ("cat",):
            return self._cat(argv[1:], typed)
        program = self.inside.answers(argv, typed) if self.inside else None
        if self.inside and program is not None:
            seen = self.content("/proc/cpuinfo") or b""
            return Outcome(self.inside.told(program, seen.decode()))
        if any(known[0] == argv[0] for known in self.commands):
            return Outcome(err=f"{argv[0]}: the lab has no answer for this\n".encode(), exit=2)
        return None

    def _cat(self, paths: Sequence[str], typed: bytes) -> Outcome:
        if not paths:
            return Outcome(out=typed)
        out, err = b"", b""
        for path in paths:
            content = self.content(path)
            if content is None:
                err += f"cat: {path}: No such file or directory\n".encode()
            else:
                out += content
        return Outcome(out, err, int(bool(err)))

    def status(self, pid: int) -> Mapping[str, Json]:
        """Return what exec-status has; a finished process is forgotten.

        Raises:
            Refused: There is no such process (any more).
        """
        if pid not in self._waiting:
            raise Refused(NO_SUCH_PID)
        due, outcome = self._waiting[pid]
        if time.monotonic() < due:
            return {"exited": 0}
        del self._waiting[pid]
        ended = {"signal": outcome.signal} if outcome.signal else {"exitcode": outcome.exit}
        found: dict[str, Any] = {"exited": 1, **ended}
        for name, data in (("out", outcome.out), ("err", outcome.err)):
            if data:
                cut = int(len(data) > MOST)
                found |= {f"{name}-data": data[:MOST].decode("latin-1"), f"{name}-truncated": cut}
        return found

    def content(self, path: str) -> bytes | None:
        """Return a file's content, None where there is none."""
        if path == "/proc/cpuinfo" and self.cpuinfo is not None:
            return self.cpuinfo().encode()
        return self.files.get(path)

    def read(self, path: str) -> bytes:
        """Return a file's content.

        Raises:
            Refused: With the agent's error.
        """
        if path in self.directories:
            raise Refused("Agent error: failed to read file: Is a directory")
        content = self.content(path)
        if content is None:
            what = f"failed to open file '{path}' (mode: 'r'): No such file or directory"
            raise Refused(f"Agent error: {what}")
        return content

    def write(self, path: str, content: bytes) -> None:
        """Write a file.

        Raises:
            Refused: Its directory is not there.
        """
        parent = path.rpartition("/")[0] or "/"
        if parent not in self.directories:
            what = f"failed to open file '{path}' (mode: 'wb'): No such file or directory"
            raise Refused(f"Agent error: {what}")
        self.files[path] = content


def parse(
    table: Mapping[str, Any], pace: float, profiles: Mapping[str, Mapping[str, Any]]
) -> GuestAgent:
    """Return the agent that a table of the lab's data describes.

    Args:
        table: Of one guest.
        pace: Lab seconds per second.
        profiles: What guests of a kind tell whoever looks into them.
    """
    commands = {
        tuple(row["argv"]): Outcome(
            _bytes(row.get("out", "")),
            _bytes(row.get("err", "")),
            int(row.get("exit", 0)),
            int(row.get("signal", 0)),
            float(row.get("seconds", 0)),
        )
        for row in table.get("commands", ())
    }
    agent = GuestAgent(
        alive=bool(table.get("alive", True)),
        told=dict(table.get("told", {})),
        files={path: _bytes(text) for path, text in table.get("files", {}).items()},
        commands=commands,
        inside=guest_inside.parse(table["inside"], profiles) if "inside" in table else None,
        pace=pace,
    )
    agent.directories |= frozenset(table.get("directories", ()))
    return agent


def _bytes(text: Any) -> bytes:
    return text if isinstance(text, bytes) else str(text).encode()
