"""A socket that leads to another one, and can lose an answer on its way."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path


class Relay:
    """Passes bytes on between whoever connects and the socket behind."""

    def __init__(self, path: Path, behind: Path) -> None:
        self.path = path
        self.lose = False
        """Set it, and the next answer from behind is dropped together with its connection."""
        self._behind = behind
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            far = socket.socket(socket.AF_UNIX)
            far.connect(str(self._behind))
            for one, other in ((near, far), (far, near)):
                threading.Thread(
                    target=self._pass, args=(one, other, one is far), daemon=True
                ).start()

    def _pass(self, one: socket.socket, other: socket.socket, answers: bool) -> None:  # noqa: FBT001
        with contextlib.suppress(OSError):
            while data := one.recv(65536):
                if answers and self.lose:
                    self.lose = False
                    break
                other.sendall(data)
        for end in (one, other):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            if end is one:
                end.close()


@contextlib.contextmanager
def relay(path: Path, behind: Path) -> Iterator[Relay]:
    """Open a relay at `path` for as long as the context lasts."""
    made = Relay(path, behind)
    try:
        yield made
    finally:
        made.close()
