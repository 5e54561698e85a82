"""SSH against real servers: running commands, host keys, and everything that can go wrong."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import peers, sshd
from support.sshd import Client, Sshd
from unmask.connect import ssh, ssh_address
from unmask.connect.ssh_login import Secrets
from unmask.connect.ssh_session import Limit, Session
from unmask.errors import TargetError

pytestmark = pytest.mark.peer
WAIT = 20.0


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ssh")


@pytest.fixture(scope="module")
def user(place: Path) -> Client:
    return sshd.client(place / "client")


@pytest.fixture(scope="module")
def server(place: Path, user: Client) -> Iterator[Sshd]:
    with sshd.running(place / "server", user) as running:
        yield running


@pytest.fixture
def known(server: Sshd, user: Client) -> Sshd:
    """The server, whose host key the client knows."""
    user.knows(server)
    return server


def connect(server: Sshd, user: Client, timeout: float = WAIT, **options: object) -> Session:
    address = ssh_address.parse(server.place)
    return ssh.connect(address, user.options(**options), Secrets(), timeout)


@pytest.fixture
def session(known: Sshd, user: Client) -> Iterator[Session]:
    with connect(known, user) as opened:
        yield opened


def test_output_errors_and_status_come_apart(session: Session) -> None:
    result = session.run("echo out; echo err >&2; exit 3")
    assert (result.status, result.stdout, result.stderr) == (3, b"out\n", b"err\n")
    assert not result.truncated


def test_words_arrive_as_they_are(session: Session) -> None:
    words = ["printf", "%s|", "a b", "$HOME", "it's", "*", ""]
    assert session.run(words).stdout == b"a b|$HOME|it's|*||"


def test_large_input_comes_back_whole(session: Session) -> None:
    data = bytes(range(256)) * 40_000
    assert session.run(["cat"], stdin=data).stdout == data


def test_input_that_nobody_reads_does_not_hang(session: Session) -> None:
    assert session.run(["true"], stdin=b"x" * 20_000_000).status == 0


def test_much_on_both_streams_at_once(session: Session) -> None:
    both = "head -c 9000000 /dev/zero & head -c 9000000 /dev/zero >&2; wait"
    result = session.run(both, limit=Limit(10_000_000, 10_000_000))
    assert (len(result.stdout), len(result.stderr)) == (9_000_000, 9_000_000)


@pytest.mark.parametrize("stream", ["", " >&2"])
def test_endless_output_is_cut_at_the_limit(session: Session, stream: str) -> None:
    result = session.run(f"cat /dev/zero{stream}", limit=Limit(100_000, 50_000))
    assert result.truncated
    assert result.status == -1
    assert len(result.stdout) + len(result.stderr) == (50_000 if stream else 100_000)
    assert session.run(["echo", "still"]).stdout == b"still\n"


def test_command_that_does_not_end_is_left_at_its_deadline(session: Session) -> None:
    began = time.monotonic()
    with pytest.raises(TargetError, match=r"a command did not end within 0\.5 s"):
        session.run(["sleep", "60"], timeout=0.5)
    assert time.monotonic() - began < 5
    assert session.run(["true"]).status == 0


def test_command_that_a_signal_ends_has_no_status(session: Session) -> None:
    assert session.run("kill -9 $$").status == -1


def test_connection_that_breaks_off_in_mid_output(known: Sshd, user: Client) -> None:
    with (
        connect(known, user) as session,
        pytest.raises(TargetError, match=r"127\.0\.0\.1.*closed by the other side"),
    ):
        session.run("head -c 300000 /dev/zero; kill -9 $PPID; sleep 5")


def test_session_of_a_closed_connection_says_so(known: Sshd, user: Client) -> None:
    session = connect(known, user)
    session.close()
    with pytest.raises(TargetError, match="SSH connection failed"):
        session.run(["true"])


def test_unknown_host_key_is_refused_with_its_fingerprint(server: Sshd, user: Client) -> None:
    user.known_hosts.unlink(missing_ok=True)
    with pytest.raises(TargetError) as caught:
        connect(server, user)
    said = str(caught.value)
    listed = peers.run(["ssh-keygen", "-lf", str(server.directory / "host_key.pub")]).stdout
    assert listed.split()[1] in said
    assert f"ssh-ed25519 {server.host_key.fingerprint}" in said
    assert "--accept-new-host-key" in said
    assert str(user.known_hosts) in said
    assert not user.known_hosts.exists()


def test_new_host_key_is_stored_where_that_is_asked_for(server: Sshd, user: Client) -> None:
    user.known_hosts.unlink(missing_ok=True)
    connect(server, user, accept_new_host_key=True).close()
    key = server.host_key
    assert user.known_hosts.read_text() == f"{server.name} {key.kind} {key.text}\n"
    connect(server, user).close()


def test_changed_host_key_is_never_accepted(server: Sshd, user: Client, tmp_path: Path) -> None:
    other = Path(f"{sshd.keygen(tmp_path / 'other')}.pub").read_text()
    user.known_hosts.write_text(f"{server.name} {other}")
    before = user.known_hosts.read_text()
    with pytest.raises(TargetError, match="HOST KEY HAS CHANGED") as caught:
        connect(server, user, accept_new_host_key=True)
    assert f"{user.known_hosts}:1" in str(caught.value)
    assert f"ssh-keygen -f {user.known_hosts} -R '{server.name}'" in str(caught.value)
    assert user.known_hosts.read_text() == before


def test_revoked_host_key_is_refused(server: Sshd, user: Client) -> None:
    key = server.host_key
    user.known_hosts.write_text(f"@revoked * {key.kind} {key.text}\n")
    with pytest.raises(TargetError, match="is revoked"):
        connect(server, user, accept_new_host_key=True)


def test_host_key_of_the_known_kind_is_asked_for(place: Path, user: Client) -> None:
    rsa = sshd.keygen(place / "rsa", "rsa")
    settings = f"HostKey {rsa}"
    with sshd.running(place / "two-keys", user, settings=settings) as server:
        public = Path(f"{rsa}.pub").read_text()
        user.known_hosts.write_text(f"{server.name} {public}")
        connect(server, user).close()


def test_nothing_listens(user: Client) -> None:
    address = ssh_address.parse(f"root@127.0.0.1:{sshd.free_port()}")
    with pytest.raises(TargetError, match="nothing listens there"):
        ssh.connect(address, user.options(), Secrets(), WAIT)


def test_name_that_cannot_exist(user: Client) -> None:
    address = ssh_address.parse(f"root@{'a' * 300}")
    with pytest.raises(TargetError, match="such a name cannot exist"):
        ssh.connect(address, user.options(), Secrets(), WAIT)


def test_name_that_does_not_resolve(user: Client) -> None:
    address = ssh_address.parse("root@no-such-host.invalid")
    with pytest.raises(TargetError, match="the name does not resolve"):
        ssh.connect(address, user.options(), Secrets(), WAIT)


@contextlib.contextmanager
def listening(answer: bytes | None) -> Iterator[int]:
    """Accept connections and send `answer`, or hang without a word."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        taken: list[socket.socket] = []

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    taken.append(connection)
                    if answer is not None:
                        connection.sendall(answer)
                        connection.shutdown(socket.SHUT_WR)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
            for connection in taken:
                connection.close()


def test_server_that_hangs_is_left_at_the_deadline(user: Client) -> None:
    with listening(None) as port:
        began = time.monotonic()
        with pytest.raises(TargetError, match="did not answer within 1 s"):
            ssh.connect(ssh_address.parse(f"root@127.0.0.1:{port}"), user.options(), Secrets(), 1.0)
        assert time.monotonic() - began < 5


def test_server_that_stops_is_left_at_the_deadline(known: Sshd, user: Client) -> None:
    with connect(known, user) as session:
        pid = int(session.run("echo $PPID").stdout)
        peers.run(["kill", "-STOP", str(pid)])
        try:
            with pytest.raises(TargetError, match="did not end within 1 s"):
                session.run(["true"], timeout=1.0)
        finally:
            peers.run(["kill", "-CONT", str(pid)])


JUNK = bytes(range(256)) * 64
KEXINIT = b"\0\0\0\x0c\x04\x14" + b"\xff" * 10
ANSWERS = (
    b"",
    b"HTTP/1.1 400 Bad Request\r\n\r\n",
    b"SSH-2.0-x\r\n",
    b"SSH-1.5-old\r\n",
    b"SSH-2.0-x\r\n" + JUNK,
    b"SSH-2.0-x\r\n" + KEXINIT,
    JUNK,
)


@pytest.mark.parametrize("answer", ANSWERS)
def test_what_is_no_ssh_server_is_told(user: Client, answer: bytes) -> None:
    with (
        listening(answer) as port,
        pytest.raises(TargetError, match=r"127\.0\.0\.1:.*connection (failed|was)"),
    ):
        ssh.connect(ssh_address.parse(f"root@127.0.0.1:{port}"), user.options(), Secrets(), 5.0)


def test_the_server_says_what_it_is(session: Session) -> None:
    assert session.software.startswith("SSH-2.0-OpenSSH_")


def test_what_was_written_before_the_time_was_over_can_be_had(session: Session) -> None:
    result = session.run("echo begun; exec sleep 60", timeout=2, partial_too=True)
    assert (result.stdout, result.status, result.unfinished) == (b"begun\n", -1, True)
    silent = session.run("exec sleep 60", timeout=0.5, partial_too=True)
    assert (silent.stdout, silent.unfinished) == (b"", True)


def test_what_was_written_before_the_connection_broke_can_be_had(session: Session) -> None:
    # So much behind it that it has surely been sent.
    command = "echo begun; head -c 2000000 /dev/zero; kill -KILL $PPID"
    result = session.run(command, timeout=WAIT, partial_too=True)
    assert result.stdout.startswith(b"begun\n")
    assert result.unfinished


def test_a_key_that_is_named_beats_the_known_hosts(server: Sshd, user: Client) -> None:
    user.knows()
    key = server.host_key
    for named in (key.fingerprint, f"{key.kind} {key.text}"):
        with connect(server, user, host_keys=("SHA256:" + "A" * 43, named)) as session:
            assert session.run("echo in").stdout == b"in\n"
    user.knows(server)
    with pytest.raises(TargetError, match="is not the one that the configuration names"):
        connect(server, user, host_keys=("SHA256:" + "A" * 43,), accept_new_host_key=True)
