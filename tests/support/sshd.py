"""Real OpenSSH servers of our own: each with its own address, host key and authorised key.

They run as the user who runs the tests, know nobody else, and end with the context. Nothing of the
machine's own SSH is used or changed.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from support import peers
from unmask.connect.ssh_known_hosts import HostKey
from unmask.model.ssh import SshOptions

START_SECONDS = 20
USER = pwd.getpwuid(os.getuid()).pw_name

_SETTINGS = """\
ListenAddress {address}
Port {port}
HostKey {directory}/host_key
AuthorizedKeysFile {directory}/authorized_keys
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin yes
PrintMotd no
MaxStartups 100
"""

_CLIENT = """\
Host *
    User {user}
    IdentityFile {directory}/client_key
    IdentityAgent none
    UserKnownHostsFile {directory}/known_hosts
    GlobalKnownHostsFile none
"""


@dataclass(frozen=True, slots=True)
class Client:
    """Somebody who uses SSH: a directory with a key, known hosts, and a configuration."""

    directory: Path

    @property
    def known_hosts(self) -> Path:
        return self.directory / "known_hosts"

    @property
    def key(self) -> Path:
        return self.directory / "client_key"

    def options(self, **others: object) -> SshOptions:
        values: dict[str, object] = {"config": str(self.directory / "config"), **others}
        return SshOptions(**values)  # type: ignore[arg-type]

    def knows(self, *servers: Sshd) -> None:
        """Write the host keys of `servers` into the known hosts, and nothing else."""
        lines = [
            f"{server.name} {server.host_key.kind} {server.host_key.text}\n" for server in servers
        ]
        self.known_hosts.write_text("".join(lines))

    def configure(self, text: str) -> None:
        """Put `text` in front of the configuration."""
        path = self.directory / "config"
        path.write_text(f"{text}\n{path.read_text()}")


@dataclass(frozen=True, slots=True)
class Sshd:
    """A running server."""

    directory: Path
    address: str
    port: int
    process: subprocess.Popen[bytes]

    @property
    def host_key(self) -> HostKey:
        kind, text = (self.directory / "host_key.pub").read_text().split()[:2]
        return HostKey(kind, text)

    @property
    def name(self) -> str:
        """What it is called in known hosts."""
        return f"[{self.address}]:{self.port}"

    @property
    def place(self) -> str:
        return f"{USER}@{self.address}:{self.port}"


def keygen(path: Path, kind: str = "ed25519", passphrase: str = "") -> Path:
    """Make a key pair and return the private key's path."""
    words = [peers.program("ssh-keygen"), "-q", "-t", kind, "-N", passphrase, "-f", str(path)]
    path.unlink(missing_ok=True)
    peers.run(words)
    return path


def client(directory: Path) -> Client:
    """Make a client that knows no host."""
    directory.mkdir(parents=True, exist_ok=True)
    keygen(directory / "client_key")
    (directory / "config").write_text(_CLIENT.format(user=USER, directory=directory))
    return Client(directory)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextlib.contextmanager
def running(
    directory: Path,
    user: Client,
    *,
    address: str = "127.0.0.1",
    port: int = 0,
    settings: str = "",
    host_key: str = "ed25519",
    password: str = "",
    binds: Mapping[str, Path] = MappingProxyType({}),
) -> Iterator[Sshd]:
    """Run a server that lets `user` in for as long as the context lasts.

    `settings` stand in front of its configuration, where the first of a keyword counts. With a
    `password` the server lives in a mount namespace whose /etc/shadow gives the user that one; in
    it, each path of `binds` shows the file or directory given for it.
    """
    program = peers.program("sshd")
    directory.mkdir(parents=True, exist_ok=True)
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # sshd insists on it
    port = port or free_port()
    keygen(directory / "host_key", host_key)
    shutil.copy(f"{user.key}.pub", directory / "authorized_keys")
    own = _SETTINGS.format(address=address, port=port, directory=directory)
    (directory / "sshd_config").write_text(f"{settings}\n{own}")
    with (directory / "log").open("wb") as log:
        process = subprocess.Popen(
            [
                *_alone(_own_files(directory, password) | dict(binds)),
                program,
                "-D",
                "-e",
                "-f",
                str(directory / "sshd_config"),
            ],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    try:
        _wait(process, address, port, directory / "log")
        yield Sshd(directory, address, port, process)
    finally:
        process.terminate()
        process.wait(timeout=30)


def _own_files(directory: Path, password: str) -> dict[str, Path]:
    """Return what a server with a password sees as /etc/shadow."""
    if not password:
        return {}
    shadow = directory / "shadow"
    hashed = peers.run([peers.program("openssl"), "passwd", "-6", "-stdin"], stdin=password).stdout
    shadow.write_text(f"{USER}:{hashed.strip()}:19000:0:99999:7:::\n")
    shadow.chmod(0o600)
    return {"/etc/shadow": shadow}


def _alone(binds: dict[str, Path]) -> list[str]:
    """Return the beginning of the command line of a server that sees other files than the rest."""
    ending = ["setpriv", "--pdeathsig=KILL"]
    if not binds:
        return ending
    if os.geteuid() != 0:
        peers.missing("root, who alone can show a server files of its own")
    enter = (
        'while [ "$1" != -- ]; do mount --bind "$1" "$2" || exit; shift 2; done; shift; exec "$@"'
    )
    apart = ["unshare", "--mount", "--propagation=private", "sh", "-c", enter, "sh"]
    shown = [word for place, file in binds.items() for word in (str(file), place)]
    return [*ending, *apart, *shown, "--"]


def _wait(process: subprocess.Popen[bytes], address: str, port: int, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection((address, port), 1) as probe:
            if probe.recv(4) == b"SSH-":
                return
        time.sleep(0.05)
    raise AssertionError(f"sshd did not answer: {log.read_text()}")
