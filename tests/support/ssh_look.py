"""Looking into guests by SSH, in tests: what stands behind the door, and the look itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support import ssh_machine, sshd
from support.recorded_machines import Recorded
from support.ssh_machine import Machine
from support.sshd import Client, Sshd
from unmask.connect.ssh_login import Secrets
from unmask.model.entry import GuestEntry
from unmask.model.inside import Inside
from unmask.visits import _ssh
from unmask.visits._channel import NoWayError

WAIT = 60.0


def look(
    server: Sshd,
    user: Client,
    *,
    seconds: float = WAIT,
    sudo: bool = False,
    host_keys: tuple[str, ...] = (),
) -> tuple[Inside, str]:
    login = user.options(host_keys=host_keys)
    entry = GuestEntry(port=server.port, user=sshd.USER, ssh=login, told=True, sudo=sudo)
    return _ssh.look(server.address, entry, Secrets(), seconds)


def refused(
    server: Sshd, user: Client, seconds: float = WAIT, host_keys: tuple[str, ...] = ()
) -> NoWayError:
    with pytest.raises(NoWayError) as caught:
        look(server, user, seconds=seconds, host_keys=host_keys)
    return caught.value


@contextmanager
def recorded(place: Path, user: Client, what: Recorded) -> Iterator[tuple[Machine, Sshd]]:
    made = ssh_machine.machine(place / "machine", what.files, what.programs)
    with ssh_machine.serving(made, user) as server:
        yield made, server


@contextmanager
def answering(place: Path, user: Client, answer: str) -> Iterator[Sshd]:
    """Serve a guest in which `answer` runs in place of every command."""
    with ssh_machine.serving(ssh_machine.machine(place / "m"), user, answer=answer) as server:
        yield server
