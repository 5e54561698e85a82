"""The journal: what is about to be done to a guest is on the disk before it is begun.

One file a run in the state directory, one line a step, synced line by line. Whatever ends the
process, the file tells how far it had come at most; the last line may be torn, and then the step
that it announces had not begun.
"""

from __future__ import annotations

import fcntl
import os
import pwd
import re
import secrets
import socket
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from unmask import __version__
from unmask.errors import ChangeError, UnmaskError, UsageError
from unmask.fixes import _lines, _lock, _state
from unmask.model.change import Phase, Place, Setting
from unmask.model.run import Event, GuestRun, Run, RunKind, Verdict

LIMIT = 16 * 1024 * 1024
"""Bytes of one journal that are read."""
SUFFIX = ".jsonl"
RUN_ID = re.compile(r"[0-9]{8}-[0-9]{6}-[0-9a-f]{6}", re.ASCII)
_TRIES = 10
_OPEN = os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | _OPEN


class JournalError(UnmaskError):
    """A journal cannot be read, so nobody knows what its run has left behind."""


class JournalWriteError(ChangeError):
    """The journal cannot be written; the step that it should have announced was not begun."""


def now() -> str:
    """Return the time as journals have it: UTC, "2026-12-01T10:00:00Z"."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def user() -> str:
    """Return who runs this program: "root (sudo: alice)" where sudo says who asked for it."""
    try:
        name = pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        name = str(os.geteuid())
    asked = os.environ.get("SUDO_USER", "")
    return f"{name} (sudo: {asked})" if asked and asked != name else name


def host() -> str:
    """Return the name of this machine."""
    return socket.gethostname()


class Writer:
    """The journal of one run, held by this process until it is closed."""

    def __init__(self, path: Path, number: int, ident: str, clock: Callable[[], str]) -> None:
        self.ident = ident
        self._path = path
        self._number = number
        self._clock = clock
        self._broken = ""

    def plan(self, guest: GuestRun) -> None:
        """Write down what is planned for a guest, and who has taken on what.

        Raises:
            JournalWriteError: It could not be written.
        """
        self._append(_lines.planned(guest, self._clock()))
        if guest.acknowledgements:
            self._append(_lines.acknowledged(guest, self._clock()))

    def event(
        self,
        place: Place,
        phase: Phase,
        detail: str = "",
        verdict: Verdict | None = None,
        found: Setting | None = None,
    ) -> None:
        """Write down what is about to begin, or how it ended.

        Raises:
            JournalWriteError: It could not be written: do not begin.
        """
        self._append(_lines.event(place, Event(self._clock(), phase, detail, verdict, found)))

    def close(self) -> None:
        """Let the journal go."""
        if self._number >= 0:
            os.close(self._number)
            self._number = -1

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def append_head(self, run: Run) -> None:
        """Write the first line."""
        self._append(_lines.head(run, os.getpid()))

    def _append(self, line: Mapping[str, Any]) -> None:
        if self._broken:
            raise JournalWriteError(self._broken)
        left = _lines.encode(line)
        try:
            while left:
                left = left[os.write(self._number, left) :]
            os.fsync(self._number)
        except OSError as error:
            self._broken = (
                f"{self._path}: the journal cannot be written: {error.strerror}; nothing more is "
                "done without it"
            )
            raise JournalWriteError(self._broken) from error


class Journal:
    """All runs of this user on this machine."""

    def __init__(self, folder: Path, clock: Callable[[], str] = now) -> None:
        self.folder = folder
        """The state directory; it need not exist."""
        self._runs = folder / "runs"
        self._clock = clock

    def begin(self, kind: RunKind, reason: str = "", undoes: str = "") -> Writer:
        """Begin the journal of a new run.

        Raises:
            UsageError: There is no private place for it.
            JournalWriteError: It cannot be written.
        """
        _state.make(self._runs)
        _state.check(self.folder)
        _state.check(self._runs)
        started = self._clock()
        ident = f"{re.sub('[-:Z]', '', started).replace('T', '-')}-{secrets.token_hex(3)}"
        path = self._path(ident)
        try:
            number = os.open(path, _NEW, 0o600)
        except OSError as error:
            raise JournalWriteError(f"{path}: cannot be made: {error.strerror}") from error
        _lock.take(number, f"{path}: is held by another process", path, _TRIES)
        writer = Writer(path, number, ident, self._clock)
        try:
            writer.append_head(
                Run(ident, kind, started, user(), host(), __version__, reason, undoes)
            )
            _state.sync(self._runs)
        except BaseException:
            writer.close()
            raise
        return writer

    def reopen(self, ident: str) -> Writer:
        """Go on with the journal of a run that has ended; a torn last line is taken away.

        Raises:
            BusyError: The run goes on.
            JournalError: There is no such run.
        """
        path = self._path(ident)
        try:
            number = os.open(path, os.O_RDWR | os.O_APPEND | _OPEN)
        except OSError as error:
            raise JournalError(f"{path}: cannot be opened: {error.strerror}") from error
        try:
            _lock.take(number, f"run {ident} is going on in another process", path, _TRIES)
            text = _read(number)
            whole = text.rfind(b"\n") + 1
            if whole != len(text):
                os.ftruncate(number, whole)
                os.fsync(number)
        except BaseException:
            os.close(number)
            raise
        return Writer(path, number, ident, self._clock)

    def idents(self) -> list[str]:
        """Return the ids of all runs, the oldest first.

        Raises:
            UsageError: Somebody else could have written them.
            JournalError: They cannot be listed.
        """
        try:
            _state.check(self._runs)
            names = [path.name for path in self._runs.iterdir()]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise JournalError(f"{self._runs}: cannot be listed: {error.strerror}") from error
        ends = (name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX))
        return sorted(name for name in ends if RUN_ID.fullmatch(name))

    def runs(self) -> tuple[Run, ...]:
        """Return all runs, the oldest first.

        Raises:
            JournalError: One of them cannot be read.
        """
        found = (self.load(ident) for ident in self.idents())
        return tuple(run for run in found if run)

    def run(self, named: str) -> Run:
        """Return the run whose id is, or begins like, what is named.

        Raises:
            UsageError: There is none, or more than one.
            JournalError: It cannot be read.
        """
        fitting = [ident for ident in self.idents() if named and ident.startswith(named)]
        found = self.load(fitting[0]) if len(fitting) == 1 else None
        if found:
            return found
        if len(fitting) > 1:
            raise UsageError(f"{named!r} is the beginning of {len(fitting)} runs; give more of it")
        raise UsageError(f"there is no run {named!r}; unmask history lists all")

    def load(self, ident: str) -> Run | None:
        """Return a run; None for one that ended before it had written down what it was for.

        Raises:
            JournalError: It cannot be read, or not by this version.
        """
        path = self._path(ident)
        try:
            number = os.open(path, os.O_RDONLY | _OPEN)
        except OSError as error:
            raise JournalError(f"{path}: cannot be read: {error.strerror}") from error
        try:
            live, text = _is_live(number), _read(number)
        finally:
            os.close(number)
        whole = text[: text.rfind(b"\n") + 1]
        if not whole:
            return None
        try:
            return replace(_lines.run_of(whole.splitlines()), live=live)
        except _lines.NewerError as error:
            raise JournalError(f"{path}: {error}; update unmask") from error
        except _lines.LineError as error:
            raise JournalError(
                f"{path}: {error}; look at the guests that it names, then move it away"
            ) from error

    def _path(self, ident: str) -> Path:
        return self._runs / f"{ident}{SUFFIX}"


def _is_live(number: int) -> bool:
    """Return whether another process holds an open journal."""
    try:
        fcntl.flock(number, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    return False


def _read(number: int) -> bytes:
    parts: list[bytes] = []
    left = LIMIT
    while left and (part := os.pread(number, min(left, 65536), LIMIT - left)):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)
