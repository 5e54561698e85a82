"""Read the other nodes of a Proxmox VE cluster, through the one that was named or directly."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from unmask.connect import ssh, ssh_known_hosts, threads
from unmask.connect.ssh_address import PORT, Address
from unmask.connect.ssh_known_hosts import Entry
from unmask.connect.ssh_login import Secrets
from unmask.connect.ssh_session import Session
from unmask.dialects.proxmox import corosync
from unmask.dialects.proxmox.corosync import Membership
from unmask.dialects.proxmox.node import NodeFacts
from unmask.errors import InputError, TargetError, UnmaskError
from unmask.model.reading import Missing
from unmask.model.source import CollectOptions
from unmask.sources import _pve_node
from unmask.sources._pve_node import KEYS, ClusterRead

ATTEMPT = 15.0
"""Seconds for one way to a node."""

WAYS = 6
"""Addresses of one node that are tried."""

MOST = 128
"""Nodes that are asked; Proxmox VE is tested with some 30."""

GRACE = 2.0
"""Seconds for a node to say itself that it was too slow."""

SAID = 3
"""Failures that are told."""


@dataclass(frozen=True, slots=True)
class PeersRead:
    """What the other nodes told."""

    facts: Mapping[str, NodeFacts]
    unread: Mapping[str, Missing]
    """Why others told nothing."""
    interrupted: bool = False
    """Ctrl-C ended it; the nodes that were left are in `unread`."""


@dataclass(frozen=True, slots=True)
class Peers:
    """The way to the other nodes."""

    session: Session
    """To the node that was named."""
    user: str
    """As whom the operator logs in, "" for the default."""
    options: CollectOptions
    secrets: Secrets
    end: float
    """`time.monotonic()` after which nothing is begun."""
    cluster: ClusterRead
    trusted: tuple[Entry, ...]

    def read(self) -> PeersRead:
        """Ask every node that the cluster says is online, several at once."""
        membership = self._membership()
        online = {member.name: member.online for member in self.cluster.members}
        names = {*membership.nodes, *online} - {self.cluster.entry.facts.name}
        facts: dict[str, NodeFacts] = {}
        unread = {
            name: Missing("the cluster says that this node is offline", "the node, switched on")
            for name in sorted(names)
            if not online.get(name, True)
        }
        wanted = sorted(names - unread.keys())
        for name in wanted[MOST:]:
            unread[name] = Missing(f"a cluster of more than {MOST} nodes: this one was not asked")
        wanted = wanted[:MOST]
        got = threads.gather(
            lambda name: self._node(name, membership),
            wanted,
            self.options.workers,
            max(self.end - time.monotonic(), 1.0) + GRACE,
            lambda done: self.options.progress(f"nodes: {done}/{len(wanted)}"),
        )
        for number, name in enumerate(wanted):
            future = got.results.get(number)
            result = future.result() if future else self._unfinished(interrupted=got.interrupted)
            if isinstance(result, Missing):
                unread[name] = result
            else:
                facts[name] = result
        return PeersRead(facts, unread, got.interrupted)

    def _unfinished(self, *, interrupted: bool) -> Missing:
        late = f"not read within {self.options.timeout:g} s"
        return Missing("the run was interrupted before" if interrupted else late)

    def _membership(self) -> Membership:
        content = self.cluster.tree.files.get("corosync.conf", b"")
        try:
            return corosync.parse(content.decode("utf-8", errors="replace"))
        except InputError:
            return Membership("", ())  # whoever reads the tree says so

    def _node(self, name: str, membership: Membership) -> NodeFacts | Missing:
        try:
            session, facts = self._log_in(name, membership)
        except TargetError as error:
            return Missing(str(error), f"SSH access to {name}")
        session.close()
        return facts

    def log_in(self, name: str) -> Session:
        """Log in to a node by the first way that leads to it; the caller closes the session.

        Raises:
            TargetError: None does; the text has what was said on some of them.
        """
        return self._log_in(name, self._membership())[0]

    def _log_in(self, name: str, membership: Membership) -> tuple[Session, NodeFacts]:
        said: list[str] = []
        for address, through in self._ways(name, membership):
            left = min(self.end - time.monotonic(), ATTEMPT)
            if left <= 0:
                said.append(f"not read within {self.options.timeout:g} s")
                break
            try:
                session, facts = self._attempt(name, address, through, left)
            except UnmaskError as error:
                said.append(str(error))
                continue
            if facts.name == name:
                return session, facts
            session.close()
            said.append(f"{address}: the node that answers calls itself {facts.name!r}")
        raise TargetError("; ".join(said[:SAID]))

    def _ways(self, name: str, membership: Membership) -> Iterator[tuple[str, bool]]:
        """Yield addresses of a node, each with whether the first node reaches it for us."""
        member = next((item for item in self.cluster.members if item.name == name), None)
        known = [member.address] if member and member.address else []
        known += [*membership.addresses_of(name), name]
        yield from ((address, True) for address in dict.fromkeys(known[:WAYS]))
        yield name, False

    def _attempt(
        self,
        name: str,
        host: str,
        through: bool,  # noqa: FBT001
        left: float,
    ) -> tuple[Session, NodeFacts]:
        port = (self.cluster.entry.port or PORT) if through else 0
        session = ssh.connect(
            Address(host, self.user, port),
            self.options.ssh,
            self.secrets,
            left,
            like=self.session.login,
            through=self.session if through else None,
            trusted=self.trusted,
            names=(name,),
        )
        try:
            return session, self._facts(session)
        except BaseException:
            session.close()
            raise

    def _facts(self, session: Session) -> NodeFacts:
        found = _pve_node.read(session, max(self.end - time.monotonic(), 1))
        if not found.whole:
            raise TargetError(f"{session.where}: its answer is not complete")
        return found.facts


def trusted_keys(cluster: ClusterRead) -> tuple[Entry, ...]:
    """Return the host keys by which the nodes of a cluster know each other.

    Who can write these files is root on every node anyway, and the node that sent them is one whose
    own key is known.
    """
    files = {path: text for path, text in cluster.tree.files.items() if KEYS.fullmatch(path)}
    files["/etc/ssh/ssh_known_hosts"] = cluster.known_hosts
    return tuple(
        entry
        for path, content in files.items()
        for entry in ssh_known_hosts.parse(content.decode("utf-8", errors="replace"), path)
    )
