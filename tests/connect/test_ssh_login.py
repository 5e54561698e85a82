"""Logging in to real servers: keys, agent, passwords, and the way there."""

from __future__ import annotations

import contextlib
import os
import shutil
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import peers, sshd
from support.sshd import USER, Client, Sshd
from unmask.connect import ssh, ssh_address
from unmask.connect.ssh_login import Secrets
from unmask.connect.ssh_session import Session
from unmask.errors import TargetError

pytestmark = pytest.mark.peer
WAIT = 20.0
GUESS = "wrong guess"
SECRET = "correct horse 5"


@pytest.fixture
def user(tmp_path: Path) -> Client:
    return sshd.client(tmp_path / "client")


@contextlib.contextmanager
def serving(user: Client, name: str = "server", **options: str) -> Iterator[Sshd]:
    """Run a server whose host key the user knows."""
    with sshd.running(user.directory.with_name(name), user, **options) as server:  # type: ignore[arg-type]
        user.knows(server)
        yield server


def connect(where: str, user: Client, secrets: Secrets | None = None, **options: object) -> Session:
    address = ssh_address.parse(where)
    return ssh.connect(address, user.options(**options), secrets or Secrets(), WAIT)


def works(session: Session) -> bool:
    with session:
        return session.run(["id", "-un"]).stdout.decode().strip() == USER


@pytest.mark.parametrize("kind", ["ed25519", "rsa", "ecdsa"])
def test_key_of_the_configuration(user: Client, kind: str) -> None:
    sshd.keygen(user.key, kind)
    with serving(user) as server:
        assert works(connect(server.place, user))


def test_key_of_the_option_comes_before_the_configured_ones(user: Client, tmp_path: Path) -> None:
    with serving(user, settings="MaxAuthTries 1") as server:
        moved = shutil.move(user.key, tmp_path / "moved")
        sshd.keygen(user.key)
        assert works(connect(server.place, user, key=str(moved)))


def test_wrong_key_is_told_with_what_was_tried(user: Client) -> None:
    with serving(user) as server:
        sshd.keygen(user.key)
        with pytest.raises(TargetError) as caught:
            connect(server.place, user)
    said = str(caught.value)
    assert f"access is refused to {USER}; tried the key {user.key}" in said
    assert "the server takes publickey" in said
    assert "--key" in said


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "there is no file"), ("nonsense\n", "is no private key that can be used")],
)
def test_key_that_cannot_be_used_is_told(user: Client, content: str | None, said: str) -> None:
    with serving(user) as server:
        user.key.unlink()
        if content:
            user.key.write_text(content)
            user.key.chmod(0o600)
        with pytest.raises(TargetError, match=said) as caught:
            connect(server.place, user)
    assert "tried nothing" in str(caught.value)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_key_that_others_can_read_is_not_used(user: Client, mode: int) -> None:
    user.key.chmod(mode)
    with serving(user) as server:
        said = rf"tried nothing .*others can read it \(chmod 600 {user.key}\)"
        with pytest.raises(TargetError, match=said):
            connect(server.place, user)
        user.key.chmod(0o400)
        assert works(connect(server.place, user))


def test_protected_key_asks_for_its_passphrase(user: Client) -> None:
    sshd.keygen(user.key, passphrase=SECRET)
    asked: list[str] = []

    def ask(prompt: str) -> str:
        asked.append(prompt)
        return SECRET

    with serving(user) as server:
        assert works(connect(server.place, user, Secrets(ask=ask)))
        assert asked == [f"Passphrase of {user.key}: "]
        with pytest.raises(TargetError, match=r"protected by a passphrase.*ssh-add"):
            connect(server.place, user)
        with pytest.raises(TargetError, match="the passphrase does not open") as caught:
            connect(server.place, user, Secrets(ask=lambda _: GUESS))
    assert GUESS not in str(caught.value)


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An SSH agent of our own."""
    socket = tmp_path / "agent"
    lines = peers.run([peers.program("ssh-agent"), "-s", "-a", str(socket)]).stdout
    pid = lines.partition("SSH_AGENT_PID=")[2].partition(";")[0]
    monkeypatch.setenv("SSH_AUTH_SOCK", str(socket))
    yield
    os.kill(int(pid), 15)


def configure_agent(user: Client) -> None:
    path = user.directory / "config"
    path.write_text(path.read_text().replace("IdentityAgent none", ""))


@pytest.mark.usefixtures("agent")
def test_agent_alone_opens(user: Client) -> None:
    peers.run(["ssh-add", str(user.key)])
    configure_agent(user)
    with serving(user) as server:
        user.key.unlink()
        assert works(connect(server.place, user))


@pytest.mark.usefixtures("agent")
def test_only_the_configured_keys_of_the_agent(user: Client, tmp_path: Path) -> None:
    for number in range(3):
        peers.run(["ssh-add", str(sshd.keygen(tmp_path / f"other{number}"))])
    peers.run(["ssh-add", str(user.key)])
    configure_agent(user)
    user.configure("IdentitiesOnly yes")
    with serving(user, settings="MaxAuthTries 2") as server:
        assert works(connect(server.place, user))


@pytest.mark.usefixtures("agent")
def test_too_many_keys_are_told(user: Client, tmp_path: Path) -> None:
    with serving(user, settings="MaxAuthTries 2") as server:
        sshd.keygen(user.key)
        for number in range(4):
            peers.run(["ssh-add", str(sshd.keygen(tmp_path / f"other{number}"))])
        configure_agent(user)
        with pytest.raises(TargetError, match=r"(hung up|closed by the other side|failed)"):
            connect(server.place, user)


@pytest.mark.parametrize("gone", ["gone", "x" * 300])  # the latter as where nobody may look
def test_agent_that_is_gone_is_no_obstacle(
    user: Client, monkeypatch: pytest.MonkeyPatch, gone: str
) -> None:
    monkeypatch.setenv("SSH_AUTH_SOCK", str(user.directory / gone))
    configure_agent(user)
    with serving(user) as server:
        assert works(connect(server.place, user))


PASSWORD = "PasswordAuthentication yes\nPubkeyAuthentication no"
BY_PAM = "KbdInteractiveAuthentication yes\nUsePAM yes\nPubkeyAuthentication no"


@pytest.mark.parametrize("settings", [PASSWORD, BY_PAM])
def test_password(user: Client, settings: str) -> None:
    with serving(user, settings=settings, password=SECRET) as server:
        assert works(connect(server.place, user, Secrets(SECRET)))
        answers = {f"Password of {USER} at {server.place}: ": SECRET}
        assert works(connect(server.place, user, Secrets(ask=answers.__getitem__)))


@pytest.mark.parametrize("settings", [PASSWORD, BY_PAM])
def test_wrong_password_is_not_told(user: Client, settings: str) -> None:
    with serving(user, settings=settings, password=SECRET) as server:
        with pytest.raises(TargetError) as caught:
            connect(server.place, user, Secrets(GUESS))
        assert "access is refused" in str(caught.value)
        assert GUESS not in "".join(traceback.format_exception(caught.value))
        with pytest.raises(TargetError, match="tried nothing"):
            connect(server.place, user)


def test_key_and_password_together(user: Client) -> None:
    settings = "PasswordAuthentication yes\nAuthenticationMethods publickey,password"
    with serving(user, settings=settings, password=SECRET) as server:
        assert works(connect(server.place, user, Secrets(SECRET)))
        with pytest.raises(TargetError, match="was accepted, and it wants more"):
            connect(server.place, user)


def test_secrets_do_not_show_themselves() -> None:
    assert SECRET not in repr(Secrets(SECRET))


def test_jump_host(user: Client) -> None:
    with serving(user, "gate") as gate, serving(user, "inner", address="127.0.0.2") as inner:
        user.knows(gate, inner)
        assert works(connect(inner.place, user, jump=gate.place))
        user.configure(
            f"Host inner\n  HostName {inner.address}\n  Port {inner.port}\n  ProxyJump gate\n"
            f"Host gate\n  HostName {gate.address}\n  Port {gate.port}\n"
        )
        assert works(connect("inner", user))
        user.knows(inner)
        with pytest.raises(TargetError, match="gate: its host key is not known"):
            connect("inner", user)


def test_jump_host_that_lets_nobody_through(user: Client) -> None:
    with (
        serving(user, "gate", settings="AllowTcpForwarding no") as gate,
        pytest.raises(TargetError, match="administratively prohibited"),
    ):
        connect(f"{USER}@127.0.0.2:22", user, jump=gate.place)


def test_jump_host_that_cannot_reach_it(user: Client) -> None:
    with serving(user, "gate") as gate:
        wanted = f"127.0.0.2:{sshd.free_port()}"
        with pytest.raises(TargetError, match=f"{wanted} through .*cannot be reached"):
            connect(f"{USER}@{wanted}", user, jump=gate.place)


def test_several_jumps_one_after_the_other(user: Client) -> None:
    with (
        serving(user, "first") as first,
        serving(user, "second", address="127.0.0.2") as second,
        serving(user, "third", address="127.0.0.3") as third,
    ):
        user.knows(first, second, third)
        assert works(connect(third.place, user, jump=f"{first.place},{second.place}"))


def test_proxy_command_is_the_connection(user: Client) -> None:
    with serving(user) as server:
        key = server.host_key
        user.known_hosts.write_text(f"lab {key.kind} {key.text}\n")
        program = f"{peers.program('sshd')} -i -f {server.directory}/sshd_config"
        user.configure(f"Host lab\n  ProxyCommand {program}\n")
        assert works(connect("lab", user))


def test_proxy_command_that_fails(user: Client) -> None:
    user.configure("Host lab\n  ProxyCommand /no/such/program\n")
    with pytest.raises(TargetError, match="lab: "):
        connect("lab", user)


def test_alias_with_a_key_of_its_own_name(user: Client) -> None:
    with serving(user) as server:
        key = server.host_key
        user.known_hosts.write_text(f"cluster {key.kind} {key.text}\n")
        user.configure(
            f"Host lab\n  HostName {server.address}\n  Port {server.port}\n  HostKeyAlias cluster\n"
        )
        assert works(connect("lab", user))
