"""SSH sessions to the nodes of a Proxmox VE cluster, for whoever looks into their guests."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from unmask.connect.ssh_session import Session
from unmask.errors import TargetError
from unmask.model.source import CollectOptions
from unmask.sources import _pve_entry, _pve_node, _pve_peers
from unmask.sources._pve_peers import Peers
from unmask.visits._channel import NoWayError

AT_ONCE = 8
"""Commands on one node at a time: sshd lets ten channels through one connection (MaxSessions)."""
BUSY = NoWayError("its node had too much to do", "a longer --guest-timeout")


@dataclass(slots=True)
class _Node:
    """One node, once somebody has asked for it."""

    session: Session | None = None
    why: str = ""
    """Why there is no session."""
    opening: threading.Lock = field(default_factory=threading.Lock)
    free: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(AT_ONCE))


class Nodes:
    """A cluster's nodes; used by many threads at once."""

    def __init__(self, peers: Peers) -> None:
        self._peers = peers
        self.entry = peers.cluster.entry.facts.name
        """The node that was named."""
        self._nodes = {self.entry: _Node(peers.session)}
        self._lock = threading.Lock()

    @contextmanager
    def on(self, name: str, seconds: float) -> Iterator[Session]:
        """Give a session on a node, logging in where nobody has yet.

        Raises:
            NoWayError: There is no way to that node, or it is busy for all of the time allowed.
        """
        end = time.monotonic() + seconds
        with self._lock:
            node = self._nodes.setdefault(name, _Node())
        session = self._session(name, node, end)
        if not node.free.acquire(timeout=max(end - time.monotonic(), 0)):
            raise NoWayError(BUSY.reason, BUSY.needs)
        try:
            yield session
        finally:
            node.free.release()

    def _session(self, name: str, node: _Node, end: float) -> Session:
        if not node.opening.acquire(timeout=max(end - time.monotonic(), 0)):
            raise NoWayError(BUSY.reason, BUSY.needs)
        try:
            if node.session is None and not node.why:
                try:
                    node.session = replace(self._peers, end=end).log_in(name)
                except TargetError as error:
                    node.why = str(error)
            if node.session is None:
                raise NoWayError(node.why, f"SSH access to {name}")
            return node.session
        finally:
            node.opening.release()

    def close(self) -> None:
        """End all sessions; the one that others go through is the last."""
        with self._lock:
            sessions = [node.session for node in self._nodes.values() if node.session]
        for session in reversed(sessions):
            session.close()


def log_in(target: str, options: CollectOptions) -> Nodes:
    """Return the nodes of the cluster that a target leads to.

    Raises:
        UsageError: The target is not written as it should be.
        TargetError: Nobody lets one in, or it is no node.
    """
    end = time.monotonic() + options.timeout
    person = _pve_entry.person(target)
    secrets = person.secrets(options)
    address, session = _pve_entry.log_in(target, options, secrets, end)
    try:
        with _pve_entry.said_once(target):
            cluster = _pve_node.read_cluster(session, max(end - time.monotonic(), 1))
        keys = _pve_peers.trusted_keys(cluster)
        again = person.answered(secrets)
        return Nodes(Peers(session, address.user, options, again, end, cluster, keys))
    except BaseException:
        session.close()
        raise
