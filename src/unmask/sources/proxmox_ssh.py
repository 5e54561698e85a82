"""A Proxmox VE cluster by SSH: its files and processes as they are, without its API."""

from __future__ import annotations

import time
from dataclasses import replace

from unmask.connect.proxmox_address import SSH_SCHEME
from unmask.model.inventory import Inventory
from unmask.model.source import CollectOptions, Interrupted, Source
from unmask.sources import _pve_entry, _pve_node, _pve_observed, _pve_peers
from unmask.sources._pve_peers import Peers

RESERVE = 0.95
"""Of the time allowed: what is left then is for putting together what was read."""


def fits(target: str) -> bool:
    """Return whether the target begins with pve+ssh://."""
    return target.lower().startswith(SSH_SCHEME)


def collect(target: str, options: CollectOptions) -> Inventory:
    """Read a cluster by way of any of its nodes.

    Raises:
        UsageError: The target is not written pve+ssh://[user@]HOST[:PORT].
        TargetError: No node can be reached, or the one that is reached is none or may not be read.
        Interrupted: Ctrl-C was pressed after the first node had told the cluster's configurations.
    """
    end = time.monotonic() + options.timeout * RESERVE
    person = _pve_entry.person(target)
    secrets = person.secrets(options)
    address, session = _pve_entry.log_in(target, options, secrets, end)
    with session, _pve_entry.said_once(target):
        cluster = _pve_node.read_cluster(session, max(end - time.monotonic(), 1))
        tree = cluster.tree
        keys = _pve_peers.trusted_keys(cluster)
        # Nobody can be asked while several nodes are read at once.
        again = person.answered(secrets)
        peers = Peers(session, address.user, options, again, end, cluster, keys)
        others = peers.read()
        options.progress("")
    for path in [path for path in tree.files if _pve_node.KEYS.fullmatch(path)]:
        del tree.files[path]
    entry = cluster.entry.facts
    facts = {entry.name: entry, **others.facts}
    found = replace(_pve_observed.inventory(tree, entry, facts, others.unread), targets=(target,))
    if others.interrupted:
        raise Interrupted(found)
    return found


SOURCE = Source(
    name="proxmox_ssh",
    summary=f"{SSH_SCHEME}[user@]HOST[:PORT], any node of a Proxmox VE cluster by SSH",
    fits=fits,
    collect=collect,
    order=30,
)
