"""A Proxmox VE cluster by SSH: its files and processes as they are, without its API."""

from __future__ import annotations

import getpass
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from unmask.connect import ssh, ssh_address
from unmask.connect.proxmox_address import SSH_SCHEME
from unmask.connect.ssh_address import Address
from unmask.connect.ssh_login import PASSWORD_PROMPT, Secrets
from unmask.connect.ssh_session import Login, Session
from unmask.errors import TargetError, UsageError
from unmask.model.inventory import Inventory
from unmask.model.source import CollectOptions, Interrupted, Source
from unmask.model.ssh import PASSWORD_VARIABLE
from unmask.sources import _pve_node, _pve_observed, _pve_peers
from unmask.sources._pve_peers import Peers

ROOT = Login("root")
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
    person = _Person()
    secrets = Secrets(
        options.ssh.password.reveal() if options.ssh.password else "",
        person.ask if sys.stdin and sys.stdin.isatty() else None,
    )
    address, session = _entry(target, options, secrets, end)
    with session, _said_once(target):
        cluster = _pve_node.read_cluster(session, max(end - time.monotonic(), 1))
        tree = cluster.tree
        keys = _pve_peers.trusted_keys(cluster)
        # Nobody can be asked while several nodes are read at once: what was answered has to do.
        again = Secrets(secrets.password or person.password, person.again)
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


def _entry(
    target: str, options: CollectOptions, secrets: Secrets, end: float
) -> tuple[Address, Session]:
    """Log in to the target, or to the first of the other entries that lets one in."""
    addresses = [_address(target), *map(ssh_address.parse, options.ssh.nodes)]
    said: list[str] = []
    for number, address in enumerate(addresses):
        # Each gets a fair share, so that one that hangs leaves time for the others.
        left = max(end - time.monotonic(), 0.1) / (len(addresses) - number)
        try:
            with _said_once(target):
                return address, ssh.connect(address, options.ssh, secrets, left, like=ROOT)
        except TargetError as error:
            said.append(str(error))
    raise TargetError("; ".join(said))


@contextmanager
def _said_once(target: str) -> Iterator[None]:
    """Leave the server out of an error that is about the target, which is named anyway."""
    try:
        yield
    except TargetError as error:
        place = target[len(SSH_SCHEME) :].rstrip("/")
        raise TargetError(str(error).removeprefix(f"{place}: ")) from error


def _address(target: str) -> Address:
    rest = target[len(SSH_SCHEME) :].rstrip("/")
    if ":" in rest.rpartition("@")[0]:
        raise UsageError(
            f"a password in an address can be seen by others: set {PASSWORD_VARIABLE} instead"
        )
    try:
        return ssh_address.parse(rest)
    except UsageError as error:
        said = f"{target} is not {SSH_SCHEME}[user@]HOST[:PORT]: {error}"
        raise UsageError(said) from error


class _Person:
    """Whoever sits at the terminal, and what they have answered."""

    def __init__(self) -> None:
        self._answers: dict[str, str] = {}

    def ask(self, prompt: str) -> str:
        """Ask without showing the answer."""
        try:
            answer = getpass.getpass(prompt)
        except EOFError:
            answer = ""
        self._answers[prompt] = answer
        return answer

    def again(self, prompt: str) -> str:
        """Return what was answered to the same question before, "" where it was not asked."""
        return self._answers.get(prompt, "")

    @property
    def password(self) -> str:
        """Return the last password given, "" for none."""
        given = [self._answers[ask] for ask in self._answers if ask.startswith(PASSWORD_PROMPT)]
        return given[-1] if given else ""


SOURCE = Source(
    name="proxmox_ssh",
    summary=f"{SSH_SCHEME}[user@]HOST[:PORT], any node of a Proxmox VE cluster by SSH",
    fits=fits,
    collect=collect,
    order=30,
)
