"""The ways into nodes."""

from __future__ import annotations

import socket
from contextlib import ExitStack
from pathlib import Path

import pytest

from support import sshd
from unmask.benches import _nodes
from unmask.benches._door import Door, LocalDoor, SshDoor
from unmask.errors import TargetError, UsageError
from unmask.model.source import CollectOptions

HERE = socket.gethostname().partition(".")[0]


def of_target(target: str, name: str = "pve1") -> Door:
    with ExitStack() as stack:
        return _nodes.of_target(stack, target, name, CollectOptions())


@pytest.mark.parametrize(
    ("target", "name"), [("qemu:///system", "anything"), ("/etc/pve", HERE), ("/etc/pve/", HERE)]
)
def test_this_machine_needs_no_login(target: str, name: str) -> None:
    assert isinstance(of_target(target, name), LocalDoor)


@pytest.mark.parametrize(
    "target", ["qemu+tls://pve1/system", "qemu:///system?socket=/x", "/etc/pve"]
)
def test_a_node_that_is_not_reached_by_ssh_is_to_be_named(target: str) -> None:
    with pytest.raises(TargetError, match="--node \\[user@\\]HOST"):
        of_target(target, "another-node")


@pytest.mark.parametrize("target", ["pve://127.0.0.2", "qemu+ssh://127.0.0.1:1/system"])
def test_a_node_that_lets_nobody_in_is_an_error(target: str) -> None:
    with pytest.raises(TargetError):
        of_target(target, "127.0.0.1:1" if "ssh" in target else "unmask.invalid")


def test_addresses() -> None:
    with ExitStack() as stack:
        assert isinstance(_nodes.by_address(stack, "local", CollectOptions()), LocalDoor)
        with pytest.raises(UsageError):
            _nodes.by_address(stack, "a b", CollectOptions())


@pytest.mark.peer
@pytest.mark.parametrize("scheme", ["", "ssh://"])
def test_an_address_is_logged_in_to(tmp_path: Path, scheme: str) -> None:
    user = sshd.client(tmp_path / "client")
    with sshd.running(tmp_path / "server", user) as server, ExitStack() as stack:
        user.knows(server)
        options = CollectOptions(ssh=user.options())
        door = _nodes.by_address(stack, f"{scheme}{server.place}", options)
    assert isinstance(door, SshDoor)
    assert door.way == f"ssh {server.place}"
