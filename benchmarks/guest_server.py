"""Guests that cost next to nothing: an SSH server in a process of its own with a recorded answer.

A hundred guests have processors of their own; here they share this machine's with the program that
is measured. A real sshd takes a tenth of a second for each login, this one a hundredth.
"""

from __future__ import annotations

import contextlib
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import paramiko  # noqa: TID251 - the other side of what is measured
from paramiko.common import AUTH_SUCCESSFUL, OPEN_SUCCEEDED  # noqa: TID251

MARK = re.compile(rb"^UNMASK_MARK=(\w+)$", re.MULTILINE)
PLACE = b"MARK"
"""What stands for the mark in the recorded answer."""
WAIT = 60.0


@dataclass(frozen=True, slots=True)
class Guests:
    """A running server."""

    port: int
    log: Path
    """One line for each command."""

    @property
    def commands(self) -> list[str]:
        """Return what they were asked to run."""
        return self.log.read_text().splitlines()


@contextmanager
def running(directory: Path, key: Path, answer: bytes) -> Iterator[Guests]:
    """Serve `answer` with the private host key in the file `key`, until the context ends."""
    recorded, log = directory / "answer", directory / "log"
    recorded.write_bytes(answer)
    log.touch()
    words = [sys.executable, "-m", "benchmarks.guest_server", str(key), str(recorded), str(log)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield Guests(int(process.stdout.readline()), log)
        finally:
            process.kill()


class _Anybody(paramiko.ServerInterface):
    """Lets everybody in by key, and notes what they run."""

    def __init__(self, log: Path) -> None:
        self.log = log
        self.begun = threading.Event()

    def get_allowed_auths(self, username: str) -> str:  # noqa: ARG002
        return "publickey"

    def check_auth_publickey(self, username: str, key: Any) -> int:  # noqa: ARG002
        return AUTH_SUCCESSFUL

    def check_channel_request(self, kind: str, chanid: int) -> int:  # noqa: ARG002
        return OPEN_SUCCEEDED

    def check_channel_exec_request(self, channel: Any, command: bytes) -> bool:  # noqa: ARG002
        with self.log.open("ab") as stream:
            stream.write(command + b"\n")
        self.begun.set()
        return True


def _serve(key: Path, recorded: Path, log: Path) -> None:
    host, answer = paramiko.PKey.from_path(key), recorded.read_bytes()
    with socket.create_server(("127.0.0.1", 0), backlog=512) as listener:
        print(listener.getsockname()[1], flush=True)
        while True:
            connection, _ = listener.accept()
            work = (connection, host, answer, log)
            threading.Thread(target=_answer, args=work, daemon=True).start()


def _answer(connection: socket.socket, host: Any, answer: bytes, log: Path) -> None:
    with contextlib.suppress(Exception), paramiko.Transport(connection) as transport:
        anybody = _Anybody(log)
        transport.add_server_key(host)
        transport.start_server(server=anybody)
        channel = transport.accept(WAIT)
        assert channel is not None
        anybody.begun.wait(WAIT)
        program = b"".join(iter(lambda: channel.recv(65536), b""))
        found = MARK.search(program)
        channel.sendall(answer.replace(PLACE, found[1] if found else b""))
        channel.send_exit_status(0)
        channel.close()
        transport.join(WAIT)


if __name__ == "__main__":
    _serve(*map(Path, sys.argv[1:]))
