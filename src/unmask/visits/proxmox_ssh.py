"""Guests of a Proxmox VE cluster by way of its nodes: their agents with `qm`, and their disks."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from unmask.connect.ssh_session import ExecResult, Limit
from unmask.errors import UnreadError
from unmask.model.disk import Disk
from unmask.model.inventory import Guest, Inventory
from unmask.model.reading import Reading
from unmask.model.source import CollectOptions
from unmask.sources.proxmox_ssh import fits
from unmask.visits import _addresses, _node_disks, _pve_nodes, _pve_words
from unmask.visits._channel import Hypervisor, NoWayError
from unmask.visits._pve_nodes import Nodes
from unmask.visits._qm import QmAgent


@dataclass(frozen=True, slots=True)
class _OnNode:
    """Runs commands on one node."""

    nodes: Nodes
    name: str

    def __call__(
        self, command: Sequence[str], stdin: bytes, timeout: float, limit: Limit
    ) -> ExecResult:
        end = time.monotonic() + timeout
        with self.nodes.on(self.name, timeout) as session:
            return session.run(command, stdin, max(end - time.monotonic(), 0.1), limit)


@dataclass(frozen=True, slots=True)
class _Channel:
    """The way through the nodes; used by many threads at once."""

    nodes: Nodes
    names: Mapping[str, str]
    """Of the nodes, by subject."""

    def agent(self, guest: Guest) -> QmAgent:
        """Return the agent of a running guest, without asking whether it is there.

        Raises:
            NoWayError: Its options say that there is none.
        """
        _pve_words.need_agent(guest)
        return QmAgent(_OnNode(self.nodes, self._node(guest)), guest.ident)

    def addresses(self, guest: Guest) -> tuple[str, ...]:
        """Return the addresses that the agent tells, the likeliest to be reached first."""
        return _addresses.of_interfaces(self.agent(guest).interfaces())

    def disks(self, guest: Guest, seconds: float) -> Reading[tuple[Disk, ...]]:
        """Return its disks and what their first sectors say; works for stopped guests too."""
        end = time.monotonic() + seconds
        try:
            with self.nodes.on(self._node(guest), seconds) as session:
                return _node_disks.disks(session, guest, max(end - time.monotonic(), 0.1))
        except UnreadError as error:
            raise NoWayError(error.reason, error.needs) from error

    def _node(self, guest: Guest) -> str:
        return self.names.get(guest.host) or guest.host.rpartition("/")[2]


def open_channel(
    target: str, options: CollectOptions, found: Inventory
) -> AbstractContextManager[_Channel]:
    """Log in to the target's node; the others are logged in to when a guest of theirs is asked.

    Raises:
        UsageError: The target is not written as it should be.
        TargetError: Nobody lets one in.
    """
    nodes = _pve_nodes.log_in(target, options)
    return _kept(_Channel(nodes, {host.subject: host.name for host in found.hosts}))


@contextmanager
def _kept(channel: _Channel) -> Iterator[_Channel]:
    try:
        yield channel
    finally:
        channel.nodes.close()


HYPERVISOR = Hypervisor(name="proxmox_ssh", fits=fits, open=open_channel)
