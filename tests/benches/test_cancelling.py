"""Whoever stops a benchmark, or loses the connection to it, leaves nothing behind in the guest."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support import peers, sshd
from support.sshd import Client, Sshd
from support.unmask_command import UNMASK

pytestmark = pytest.mark.peer
WAIT = 60.0
SOON = 15.0
"""Seconds in which everything has to be gone; it takes two on a machine that has nothing to do."""


@pytest.fixture(scope="module")
def user(tmp_path_factory: pytest.TempPathFactory) -> Client:
    return sshd.client(tmp_path_factory.mktemp("ssh") / "client")


class Guest:
    """A machine by SSH whose processes can be told from all others."""

    def __init__(self, server: Sshd, user: Client, mark: str) -> None:
        self.server = server
        self._user = user
        self._mark = mark.encode()

    @property
    def processes(self) -> dict[int, str]:
        """The command lines of what runs in the guest, by process."""
        found = {}
        for path in Path("/proc").glob("[0-9]*"):
            try:
                if self._mark in (path / "environ").read_bytes():
                    words = (path / "cmdline").read_bytes().replace(b"\0", b" ")
                    found[int(path.name)] = words.decode(errors="replace")[:80]
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                continue
        return found

    def measured(self) -> subprocess.Popen[bytes]:
        """Start a benchmark of it, and return once it measures."""
        command = [UNMASK, "bench", f"ssh://{self.server.place}", "--quick"]
        home = self._user.directory
        process = subprocess.Popen(
            [*command, "--key", str(self._user.key)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=peers.environment(HOME=str(home)),
        )
        self.until(lambda: any("openssl speed" in line for line in self.processes.values()), WAIT)
        return process

    def until(self, true: Callable[[], bool], seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < deadline, self.processes
            time.sleep(0.02)

    def is_left_alone(self) -> None:
        self.until(lambda: not self.processes, SOON)


@pytest.fixture
def guest(tmp_path: Path, user: Client) -> Iterator[Guest]:
    mark = f"UNMASK_TEST={secrets.token_hex(8)}"
    with sshd.running(tmp_path / "server", user, settings=f"SetEnv {mark}") as server:
        user.knows(server)
        ssh = user.directory / ".ssh"
        ssh.mkdir(exist_ok=True)
        (ssh / "known_hosts").write_bytes(user.known_hosts.read_bytes())
        yield Guest(server, user, mark)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_stopping_leaves_no_process(guest: Guest, how: signal.Signals) -> None:
    process = guest.measured()
    process.send_signal(how)
    process.wait(timeout=WAIT)
    guest.is_left_alone()


def test_a_connection_that_is_cut_leaves_no_process(guest: Guest) -> None:
    process = guest.measured()
    for pid, line in _children(guest.server.process.pid):
        assert "sshd" in line
        os.kill(pid, signal.SIGKILL)
    guest.is_left_alone()
    process.wait(timeout=WAIT)


def _children(parent: int) -> list[tuple[int, str]]:
    listed = peers.run(["ps", "-o", "pid=,args=", "--ppid", str(parent)]).stdout
    pairs = (line.strip().partition(" ") for line in listed.splitlines())
    return [(int(pid), line) for pid, _, line in pairs]
