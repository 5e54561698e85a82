"""Commands by SSH whose input stays open: its end tells them that nobody waits for them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import sshd
from unmask.connect import ssh, ssh_address
from unmask.connect.ssh_login import Secrets
from unmask.connect.ssh_session import Session
from unmask.errors import TargetError

pytestmark = pytest.mark.peer
WAIT = 20.0


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    place = tmp_path_factory.mktemp("ssh")
    user = sshd.client(place / "client")
    with sshd.running(place / "server", user) as server:
        user.knows(server)
        address = ssh_address.parse(server.place)
        with ssh.connect(address, user.options(), Secrets(), WAIT) as opened:
            yield opened


def test_input_that_is_held_open_ends_with_the_command(session: Session) -> None:
    assert session.run("read -r line; echo $line", stdin=b"word\n", hold=b"!").stdout == b"word\n"


def test_input_is_held_open_until_a_sign_comes(session: Session) -> None:
    result = session.run("echo before; echo the sign; cat; echo after", hold=b"\nthe sign")
    assert result.stdout == b"before\nthe sign\nafter\n"


def test_a_command_whose_input_is_held_open_is_told_when_it_is_given_up(
    session: Session, tmp_path: Path
) -> None:
    told = tmp_path / "told"
    with pytest.raises(TargetError, match="did not end"):
        session.run(f"cat; echo ended >{told}.part; mv {told}.part {told}", timeout=0.5, hold=b"!")
    deadline = time.monotonic() + WAIT
    while not told.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
