"""What SSH is spoken over: a socket, a ProxyCommand, or a tunnel through another server."""

from __future__ import annotations

import socket
import subprocess
from typing import Any

from unmask.connect import ssh_errors as errors
from unmask.connect import threads
from unmask.connect.ssh_config import HostSettings
from unmask.connect.ssh_session import Session
from unmask.errors import TargetError


def wire(settings: HostSettings, where: str, through: Session | None, timeout: float) -> Any:
    """Return what the protocol is spoken over: a socket, or something like one."""
    if through is not None:
        return through.tunnel(settings.host, settings.port, timeout)
    if settings.command:
        return _piped(settings.command, where)
    place = (settings.host, settings.port)
    late = errors.late(where, timeout)
    try:
        # Looking a name up cannot be bounded, so that the whole of it may be left behind.
        return threads.within(timeout, lambda: socket.create_connection(place, timeout), late)
    except UnicodeError as error:
        raise TargetError(f"{where}: such a name cannot exist") from error
    except OSError as error:
        raise errors.unreachable(where, error, timeout) from error


def _piped(command: str, where: str) -> socket.socket:
    """Return the input and output of a ProxyCommand, which ends when it is closed."""
    ours, theirs = socket.socketpair()
    with theirs:
        try:
            # The operator's own configuration, which ssh gives to a shell as well.
            process = subprocess.Popen(
                ["/bin/sh", "-c", f"exec {command}"],
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError as error:
            raise errors.unreachable(where, error, 0) from error
    threads.start(lambda: _reap(process))
    return ours


def _reap(process: subprocess.Popen[bytes]) -> None:
    process.wait()
