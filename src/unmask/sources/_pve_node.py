"""Read one Proxmox VE node, and the cluster that it belongs to, with one command over SSH."""

from __future__ import annotations

import gzip
import io
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import IO, cast

from unmask.connect.ssh_session import Limit, Session
from unmask.dialects.proxmox import node
from unmask.dialects.proxmox.node import Member, NodeFacts
from unmask.errors import InputError, TargetError
from unmask.model.inventory import Gap
from unmask.sources import _file_tree, _pve_layout, _pve_node_script
from unmask.sources._file_tree import FileTree
from unmask.sources._pve_node_script import Output

FACTS_LIMIT = Limit(stdout=16 * 1024 * 1024, stderr=64 * 1024)
TREE_LIMIT = Limit(stdout=64 * 1024 * 1024, stderr=1024 * 1024)
"""A guest's configuration takes some 2 KiB in the archive and a tenth of that compressed."""

KEYS = re.compile(r"nodes/[^/]+/ssh_known_hosts")
"""Host keys that the nodes of a cluster tell each other, since Proxmox VE 8.2."""

FIRST = 4096
"""Bytes of an output that is none of ours in which its first line is looked for."""

GZIP = b"\x1f\x8b"
"""What gzip's output begins with (RFC 1952)."""

TAR = re.compile(r"(?:\S*/)?(?:tar|cat): (?P<path>[^:]+): (?P<said>[^:]+(?:: [^:]+)?)")

UNREADABLE = {
    "absent": "{where} is no Proxmox VE node: it has no /etc/pve",
    "denied": "{where}: the user {user} may not read /etc/pve; log in as root (pve+ssh://root@HOST)",
    "unmounted": (
        "{where}: /etc/pve is empty, so pmxcfs does not run; see `systemctl status pve-cluster` "
        "there, or name another node"
    ),
}


@dataclass(frozen=True, slots=True)
class NodeRead:
    """What one node told."""

    facts: NodeFacts
    port: int
    """The port on which its SSH server listens; 0 where it is not known."""
    whole: bool
    """The command came to its end."""


@dataclass(frozen=True, slots=True)
class ClusterRead:
    """What a node told of itself and its cluster."""

    entry: NodeRead
    tree: FileTree
    """Paths below /etc/pve."""
    members: tuple[Member, ...]
    """As the running cluster sees them; empty for a single node."""
    known_hosts: bytes
    """What the node knows of the others' host keys, before Proxmox VE 8.2 in one file for all."""


def read(session: Session, timeout: float) -> NodeRead:
    """Read a node's own facts.

    Raises:
        TargetError: The command fails, does not end in time, or the connection is lost.
    """
    output, _, _ = _run(session, timeout, tree=False)
    return _node(output)


def read_cluster(session: Session, timeout: float) -> ClusterRead:
    """Read a node's own facts and all of its cluster's files, in one command.

    Raises:
        TargetError: As for `read`, or the server is no node, or its user may not read /etc/pve.
    """
    output, errors, truncated = _run(session, timeout, tree=True)
    entry = _node(output)
    state = output.parts.get("pve", b"").decode(errors="replace").strip()
    if state in UNREADABLE:
        user = output.parts.get("user", b"").decode(errors="replace").strip()
        raise TargetError(UNREADABLE[state].format(where=session.where, user=user))
    where = f"{session.where}:/etc/pve"
    tree = _tree(output, where)
    for gap in _complaints(errors):
        tree.gaps.append(replace(gap, subject=f"{where}/{gap.subject}"))
    if truncated:
        most = TREE_LIMIT.stdout // 2**20
        tree.gaps.append(Gap(where, f"it holds more than {most} MiB, and the rest was not read"))
    elif not output.whole:
        tree.gaps.append(Gap(where, "the command over there ended before it had told everything"))
    members = node.members(output.parts.get("members", b""))
    return ClusterRead(entry, tree, members, output.parts.get("known_hosts", b""))


def _run(session: Session, timeout: float, *, tree: bool) -> tuple[Output, str, bool]:
    mark = f"unmask{secrets.token_hex(16)}"
    program = _pve_node_script.script(mark, tree=tree).encode()
    limit = TREE_LIMIT if tree else FACTS_LIMIT
    result = session.run(_pve_node_script.COMMAND, program, timeout, limit)
    output = _pve_node_script.split(result.stdout, mark)
    errors = result.stderr.decode("utf-8", errors="replace")
    if "node" not in output.parts:
        printed = result.stdout[:FIRST].decode("utf-8", errors="replace")
        line = next(iter((errors.strip() or printed.strip()).splitlines()), "it printed nothing")
        line = line[:200]
        raise TargetError(f"{session.where}: the server does not run a shell command: {line}")
    return output, errors, result.truncated


def _node(output: Output) -> NodeRead:
    connection = output.parts.get("connection", b"").split()
    port = connection[3] if len(connection) == 4 else b""
    return NodeRead(
        node.facts(output.parts, output.command_lines),
        int(port) if port.isdigit() and len(port) < 6 else 0,
        output.whole,
    )


def _wanted(path: str) -> bool:
    return _pve_layout.wanted(path) or KEYS.fullmatch(path) is not None


def _tree(output: Output, where: str) -> FileTree:
    archive = output.parts.get("tree")
    if archive is None:
        tree = FileTree(where)
        for path, content in output.files.items():
            tree.add(path, io.BytesIO(content))
        return tree
    try:
        packed = io.BytesIO(archive)
        unpacked = gzip.GzipFile(fileobj=packed) if archive[:2] == GZIP else packed
        return _file_tree.read_stream(where, cast("IO[bytes]", unpacked), _wanted)
    except InputError as error:
        raise TargetError(str(error)) from error


def _complaints(errors: str) -> Iterator[Gap]:
    """Yield what tar or cat could not read, in their words."""
    for line in errors.splitlines()[: _file_tree.GAP_LIMIT]:
        match = TAR.fullmatch(line.strip())
        if match is None or "exiting" in line.lower():
            continue
        path, said = match["path"].strip(), match["said"].strip()
        if any(word in said.lower() for word in ("no such file", "file removed", "can't stat")):
            yield Gap(path, "it vanished while the cluster was being read")
        elif "changed as we read" not in said.lower():
            yield Gap(path, said.lower(), "root on the node")
