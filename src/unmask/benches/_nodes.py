"""The ways into nodes: for the ceiling that a guest is held against, and for what-if runs."""

from __future__ import annotations

import socket
from contextlib import ExitStack
from pathlib import PurePosixPath
from urllib.parse import urlsplit

from unmask.benches._door import Door, LocalDoor, SshDoor
from unmask.connect import proxmox_address, ssh, ssh_address
from unmask.connect.ssh_address import SCHEME, Address
from unmask.connect.ssh_login import Secrets
from unmask.connect.ssh_session import Login
from unmask.errors import TargetError
from unmask.model.source import CollectOptions
from unmask.sources import libvirt, proxmox_ssh
from unmask.visits import _pve_nodes

HERE = "local"
"""Means the machine on which unmask runs."""
LOGIN_SECONDS = 30.0
ROOT = Login("root")
PVE = PurePosixPath("/etc/pve")
NO_SSH = "is not reached by SSH: name the node's address with --node [user@]HOST"


def by_address(stack: ExitStack, written: str, options: CollectOptions) -> Door:
    """Return a way into the node at an address, "local" for this machine.

    Raises:
        UsageError: It is none.
        TargetError: It cannot be reached, or lets nobody in.
    """
    if written == HERE:
        return LocalDoor()
    return _by_ssh(stack, ssh_address.parse(written.removeprefix(SCHEME)), options)


def of_target(stack: ExitStack, target: str, name: str, options: CollectOptions) -> Door:
    """Return a way into the node of this name that a target has.

    Raises:
        TargetError: There is none.
    """
    if proxmox_ssh.fits(target):
        nodes = _pve_nodes.log_in(target, options)
        stack.callback(nodes.close)
        session = stack.enter_context(nodes.on(name, LOGIN_SECONDS))
        return SshDoor(session, f"ssh {session.login.user}@{name}")
    if proxmox_address.fits(target):
        return _by_ssh(stack, Address(name), options)
    if libvirt.fits(target):
        if libvirt.is_local(target):
            return LocalDoor()
        parts = urlsplit(target)
        if parts.scheme.endswith("+ssh") and parts.hostname:
            address = Address(parts.hostname, parts.username or "", parts.port or 0)
            return _by_ssh(stack, address, options)
    if PurePosixPath(target) == PVE and name == socket.gethostname().partition(".")[0]:
        return LocalDoor()
    raise TargetError(f"the node {name} of {target} {NO_SSH}")


def _by_ssh(stack: ExitStack, address: Address, options: CollectOptions) -> Door:
    password = options.ssh.password
    secrets = Secrets(password.reveal() if password else "", None)
    opened = ssh.connect(address, options.ssh, secrets, LOGIN_SECONDS, like=ROOT)
    session = stack.enter_context(opened)
    where = Address(address.host, session.login.user, address.port)
    return SshDoor(session, f"ssh {where}")
