"""Worker tasks: their UPIDs, states and logs, and the threads that run them.

Sources: PVE/RESTEnvironment.pm (fork_worker), PVE/API2/Tasks.pm and recorded answers.
"""

from __future__ import annotations

import itertools
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from unmask.lab.accounts import Caller
from unmask.lab.answer import Json, Refused

UPID = re.compile(
    r"UPID:(?P<node>[a-zA-Z0-9-]+):[0-9A-F]{8}:[0-9A-F]{8,9}:[0-9A-F]{8}"
    r":[^:\s]+:[^:\s]*:[^:\s]+:"
)
FILE_LOCK_WAIT = 10.0
"""Seconds that a write waits for the file lock that a task of the guest holds."""


@dataclass(slots=True)
class Task:
    """One worker task."""

    upid: str
    node: str
    type: str
    ident: str
    """The guest's id, or what else the task works on."""
    caller: Caller
    pid: int
    start: int
    log: list[str] = field(default_factory=list)
    exit_status: str = ""
    """"" while it runs."""
    end: int = 0

    def say(self, line: str) -> None:
        """Add a line to the log."""
        self.log.append(line)

    def status(self) -> dict[str, Json]:
        """Return what GET tasks/UPID/status has."""
        found: dict[str, Json] = {
            "id": self.ident, "node": self.node, "pid": self.pid, "pstart": self.pid * 7,
            "starttime": self.start, "type": self.type, "upid": self.upid,
            "user": self.caller.user, "status": "stopped" if self.exit_status else "running",
        }  # fmt: skip
        if self.caller.token:
            found["tokenid"] = self.caller.token
        if self.exit_status:
            found["exitstatus"] = self.exit_status
        return found

    def listed(self) -> dict[str, Json]:
        """Return what lists of tasks have."""
        found = self.status()
        del found["status"]
        found.pop("exitstatus", None)
        if self.exit_status:
            found |= {"status": self.exit_status, "endtime": self.end}
        return found


@dataclass(slots=True)
class Tasks:
    """All tasks of the cluster."""

    pace: float
    """Lab seconds per real second."""
    guard: threading.RLock
    """Held while a task changes the state of the cluster."""
    known: dict[str, Task] = field(default_factory=dict)
    threads: list[threading.Thread] = field(default_factory=list)
    stopping: threading.Event = field(default_factory=threading.Event)
    _locks: dict[int, threading.Lock] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(0x5A00, 7))

    def start(
        self,
        node: str,
        kind: str,
        ident: str,
        caller: Caller,
        work: Callable[[Task], None],
        seconds: float = 0.3,
    ) -> Task:
        """Start a task and return it at once.

        Args:
            node: Where it runs.
            kind: Such as "qmstart".
            ident: The guest's id.
            caller: Who asked for it.
            work: Does it; a `Refused` ends the task with its text.
            seconds: How long it takes, in real seconds; with a pace of 0 it is done before the
                answer is given.
        """
        pid, now = next(self._numbers), int(time.time())
        upid = f"UPID:{node}:{pid:08X}:{pid * 7:08X}:{now:08X}:{kind}:{ident}:{caller.name}:"
        task = Task(upid, node, kind, ident, caller, pid, now)
        self.known[upid] = task
        pause = seconds * self.pace
        if not pause:
            self._run(task, work)
        else:
            runner = threading.Thread(target=self._later, args=(task, work, pause), daemon=True)
            self.threads.append(runner)
            runner.start()
        return task

    def _later(self, task: Task, work: Callable[[Task], None], pause: float) -> None:
        with self.locked(int(task.ident)) if task.ident.isdigit() else _nothing():
            if not self.stopping.wait(pause):
                self._run(task, work)

    def _run(self, task: Task, work: Callable[[Task], None]) -> None:
        try:
            with self.guard:
                work(task)
        except Refused as refused:
            task.say(f"TASK ERROR: {refused.text}")
            task.exit_status = refused.text
        else:
            task.say("TASK OK")
            task.exit_status = "OK"
        task.end = int(time.time())

    @contextmanager
    def locked(self, vmid: int) -> Iterator[None]:
        """Hold the guest's file lock.

        Raises:
            Refused: A task has held it for too long.
        """
        lock = self._locks.setdefault(vmid, threading.Lock())
        if not lock.acquire(timeout=FILE_LOCK_WAIT * self.pace):
            path = f"/var/lock/qemu-server/lock-{vmid}.conf"
            raise Refused(f"can't lock file '{path}' - got timeout")
        try:
            yield
        finally:
            lock.release()

    def stop(self) -> None:
        """End what still runs."""
        self.stopping.set()
        for thread in self.threads:
            thread.join(5)


@contextmanager
def _nothing() -> Iterator[None]:
    yield
