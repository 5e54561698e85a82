"""What goes wrong with clusters by SSH: each is told, and the rest is still read."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from support import peers, pve_node, sshd
from support.pve_node import Node
from support.sshd import USER, Client, Sshd
from unmask.connect.ssh_session import Limit
from unmask.errors import TargetError, UsageError
from unmask.model.inventory import Inventory
from unmask.model.reading import Missing
from unmask.model.secret import Secret
from unmask.model.source import CollectOptions
from unmask.sources import _pve_node
from unmask.sources.proxmox_ssh import SOURCE

pytestmark = pytest.mark.peer


@dataclass(frozen=True, slots=True)
class Single:
    """One node, whose corosync.conf is gone: a cluster of its own."""

    node: Node
    user: Client
    server: Sshd

    def collect(self, timeout: float = 30.0, **options: object) -> Inventory:
        login = self.user.options(**options)
        target = f"pve+ssh://{self.server.place}"
        return SOURCE.collect(target, CollectOptions(timeout=timeout, ssh=login))


@pytest.fixture
def single(tmp_path: Path) -> Iterator[Single]:
    user = sshd.client(tmp_path / "client")
    node = pve_node.node(tmp_path / "alder", "alder")
    (node.etc_pve / "corosync.conf").unlink()
    with pve_node.serving(node, user) as server:
        user.knows(server)
        yield Single(node, user, server)


def test_single_node_is_its_own_cluster(single: Single) -> None:
    shutil.rmtree(single.node.etc_pve / "nodes/birch")
    shutil.rmtree(single.node.etc_pve / "nodes/cedar")
    found = single.collect()
    assert [host.subject for host in found.hosts] == ["alder/alder"]
    assert found.gaps == ()
    assert "alder/101" in [guest.subject for guest in found.guests]


def test_folders_of_nodes_that_have_left_are_told(single: Single) -> None:
    found = single.collect()
    said = {gap.subject: gap.reason for gap in found.gaps}
    assert said["alder/birch"] == "it is no member of the cluster any more"
    assert any(guest.host == "alder/birch" for guest in found.guests)


@pytest.mark.parametrize(
    ("gone", "said"),
    [("etc/pve", "is no Proxmox VE node"), ("etc/pve/nodes", "pmxcfs does not run")],
)
def test_server_that_is_no_node(single: Single, gone: str, said: str) -> None:
    shutil.rmtree(single.node.root / gone)
    with pytest.raises(TargetError, match=said):
        single.collect()


def test_user_who_may_not_read_the_configuration(tmp_path: Path) -> None:
    """As root, who may read everything, the script runs as nobody."""
    user = sshd.client(tmp_path / "client")
    with tempfile.TemporaryDirectory(prefix="unmask-") as directory:
        Path(directory).chmod(0o755)
        node = pve_node.node(Path(directory, "alder"), "alder")
        settings = pve_node.force_command(node)
        if os.geteuid() == 0:
            enter = node.root / "enter"
            nobody = "setpriv --reuid=65534 --clear-groups /bin/sh -c"
            enter.write_text(enter.read_text().replace("/bin/sh -c", nobody))
        node.etc_pve.chmod(0o700 if os.geteuid() == 0 else 0)
        with sshd.running(tmp_path / "server", user, settings=settings) as server:
            user.knows(server)
            target = f"pve+ssh://{server.place}"
            with pytest.raises(TargetError, match=r"may not read /etc/pve; log in as root"):
                SOURCE.collect(target, CollectOptions(ssh=user.options()))
        node.etc_pve.chmod(0o755)


def test_processes_and_cpu_that_may_not_be_read(single: Single) -> None:
    shutil.rmtree(single.node.root / "proc")
    found = single.collect()
    reasons = [gap.reason for gap in found.gaps if gap.subject == "alder/alder"]
    assert reasons[0] == "its /proc/cpuinfo could not be read"
    assert "its processes are hidden" in reasons[1]
    assert all(gap.needs for gap in found.gaps if gap.subject == "alder/alder")
    assert isinstance(found.hosts[0].cpu, Missing)


@pytest.mark.parametrize(
    ("complaint", "said"),
    [
        ("tar: nodes/alder/qemu-server/999.conf: File removed before we read it", "it vanished"),
        ("tar: nodes/alder/qemu-server/999.conf: Cannot stat: No such file or directory", "it van"),
        (
            "tar: nodes/alder/qemu-server/999.conf: Cannot open: Permission denied",
            "cannot open: perm",
        ),
    ],
)
def test_file_that_cannot_be_read_is_told(single: Single, complaint: str, said: str) -> None:
    tar = peers.program("tar")
    single.node.has("tar", f"{tar} \"$@\"\necho '{complaint}' >&2\nexit 2")
    found = single.collect()
    place = f"{single.server.place}:/etc/pve/nodes/alder/qemu-server/999.conf"
    (gap,) = [gap for gap in found.gaps if gap.subject == place]
    assert gap.reason.startswith(said)
    assert len(found.guests) == 22


def test_more_than_the_limit_is_told(single: Single, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(500):
        single.node.write(
            f"etc/pve/nodes/zebra/qemu-server/{5000 + number}.conf", f"{os.urandom(3000)!r}\n"
        )
    monkeypatch.setattr(_pve_node, "TREE_LIMIT", Limit(1024 * 1024, 1024 * 1024))
    found = single.collect()
    assert any("holds more than 1 MiB" in gap.reason for gap in found.gaps)
    assert 22 < len(found.guests) < 522


def test_archive_that_is_none(single: Single) -> None:
    single.node.has("tar", "echo nonsense")
    with pytest.raises(TargetError, match="damaged or truncated"):
        single.collect()


def test_connection_that_breaks_off_in_the_middle(single: Single) -> None:
    first = f"$(head -n 1 {single.node.root}/commands | cut -d ' ' -f 1)"
    single.node.has("tar", f"head -c 100000 /dev/urandom; kill -9 {first}; sleep 5")
    with pytest.raises(TargetError, match="closed by the other side"):
        single.collect()


def test_node_that_hangs_is_left_at_the_deadline(single: Single) -> None:
    single.node.has("tar", "sleep 60")
    began = time.monotonic()
    with pytest.raises(TargetError, match="did not end within"):
        single.collect(timeout=3.0)
    assert time.monotonic() - began < 6


@pytest.mark.parametrize("stream", ["", " >&2"])
def test_server_that_runs_no_commands(tmp_path: Path, stream: str) -> None:
    user = sshd.client(tmp_path / "client")
    settings = f"ForceCommand echo This account is not available.{stream}"
    with sshd.running(tmp_path / "server", user, settings=settings) as server:
        user.knows(server)
        target = f"pve+ssh://{server.place}"
        with pytest.raises(TargetError, match=r"run a shell command: This account is not"):
            SOURCE.collect(target, CollectOptions(ssh=user.options()))


def test_other_entries_are_tried_in_turn(single: Single) -> None:
    dead = f"pve+ssh://{USER}@127.0.0.9:{sshd.free_port()}"
    options = single.user.options(nodes=(single.server.place,))
    found = SOURCE.collect(dead, CollectOptions(timeout=20, ssh=options))
    assert found.targets == (dead,)
    assert found.guests
    both = single.user.options(nodes=(dead.removeprefix("pve+ssh://"),))
    with pytest.raises(TargetError, match=r"nothing listens there.*; .*nothing listens there"):
        SOURCE.collect(dead, CollectOptions(timeout=20, ssh=both))


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("pve+ssh://root:hidden@pve1", "a password in an address can be seen"),
        ("pve+ssh://", "is not pve"),
        ("pve+ssh://pve1/path", "is not pve"),
        ("pve+ssh://root@pve1:99999", "is not pve"),
        ("pve+ssh://$(reboot)", "is not pve"),
    ],
)
def test_target_that_is_not_written_so(target: str, said: str) -> None:
    assert SOURCE.fits(target)
    with pytest.raises(UsageError, match=said) as caught:
        SOURCE.collect(target, CollectOptions())
    assert "hidden" not in str(caught.value)


def test_password_that_is_given(tmp_path: Path) -> None:
    user = sshd.client(tmp_path / "client")
    node = pve_node.node(tmp_path / "alder", "alder")
    settings = (
        f"{pve_node.force_command(node)}\nPasswordAuthentication yes\nPubkeyAuthentication no"
    )
    secret = "hunter 2"
    with sshd.running(tmp_path / "server", user, settings=settings, password=secret) as server:
        user.knows(server)
        target = f"pve+ssh://{server.place}"
        with pytest.raises(TargetError, match="password"):
            SOURCE.collect(target, CollectOptions(ssh=user.options()))
        given = replace(user.options(), password=Secret(secret))
        assert SOURCE.collect(target, CollectOptions(ssh=given)).guests


def test_password_that_is_asked_for_once_does_for_all_nodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = sshd.client(tmp_path / "client")
    port = sshd.free_port()
    addresses = {"alder": ["127.0.0.1"], "birch": ["127.0.0.2"]}
    secret = "hunter 2"
    asked: list[str] = []

    def ask(prompt: str) -> str:
        asked.append(prompt)
        return secret

    monkeypatch.setattr("getpass.getpass", ask)
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    with contextlib.ExitStack() as stack:
        servers = []
        for name, (address,) in addresses.items():
            node = pve_node.node(tmp_path / name, name)
            node.write("etc/pve/corosync.conf", pve_node.corosync("lab", addresses))
            settings = (
                f"{pve_node.force_command(node)}\n"
                "PasswordAuthentication yes\nPubkeyAuthentication no"
            )
            server = sshd.running(
                tmp_path / f"{name}-sshd",
                user,
                address=address,
                port=port,
                settings=settings,
                password=secret,
            )
            servers.append(stack.enter_context(server))
        user.knows(*servers)
        place = servers[0].place
        found = SOURCE.collect(f"pve+ssh://{place}", CollectOptions(ssh=user.options()))
    assert asked == [f"Password of {USER} at {place}: "]
    assert {gap.subject for gap in found.gaps} == {"lab/cedar"}


def test_command_line(single: Single, tmp_path: Path) -> None:
    """The options reach the client, secrets reach nobody, and the exit code tells of failures."""
    home = tmp_path / "home"
    home.mkdir()
    wanted = [str(Path(sys.executable).with_name("unmask")), "audit", "--fail-on", "never", "-v"]
    target = f"pve+ssh://{single.server.place}"
    secret = "hunter 2"

    def audit(*options: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*wanted, target, *options],
            env={
                "HOME": str(home),
                "PATH": os.environ["PATH"],
                "UNMASK_SSH_PASSWORD": secret,
                "UNMASK_DEBUG": "1",
            },
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    unknown = audit("--key", str(single.user.key))
    assert unknown.returncode == 3
    assert "--accept-new-host-key" in unknown.stderr
    (home / ".ssh").mkdir(mode=0o700)
    refused = audit("--accept-new-host-key")
    assert refused.returncode == 3
    assert "access is refused" in refused.stderr
    assert "set UNMASK_SSH_PASSWORD" in refused.stderr
    read = audit("--key", str(single.user.key))
    assert (read.returncode, "truenas" in read.stdout) == (0, True)
    through = audit("--key", str(single.user.key), "--jump", single.server.place)
    assert through.returncode == 0
    for done in (unknown, refused, read, through):
        assert secret not in done.stdout + done.stderr
        assert "Traceback" not in done.stderr
