"""Name and nodes of a cluster out of corosync.conf (corosync.conf(5))."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from unmask.errors import InputError

LIMIT = 512 * 1024
"""Characters."""

OPENING = re.compile(r"(?P<name>[a-z_]+)\s*\{")
VALUE = re.compile(r"(?P<key>[a-z0-9_]+)\s*:\s*(?P<value>.*\S)")

RING = re.compile(r"ring[0-7]_addr")


@dataclass(frozen=True, slots=True)
class Membership:
    """What a cluster calls itself and which nodes belong to it."""

    cluster: str
    """"" where the file does not name it."""
    nodes: tuple[str, ...]
    """Sorted."""
    addresses: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Node and its `ring0_addr`, `ring1_addr` ..., sorted by node."""

    def addresses_of(self, node: str) -> tuple[str, ...]:
        """Return the addresses or names by which the cluster reaches a node."""
        return next((found for name, found in self.addresses if name == node), ())


@dataclass(slots=True)
class _Node:
    """A node in the making."""

    name: str = ""
    rings: dict[str, str] = field(default_factory=dict)


def parse(text: str) -> Membership:
    """Return the cluster that `text` describes.

    Raises:
        InputError: The text is too large, binary, or its braces do not match.
    """
    if len(text) > LIMIT or "\0" in text:
        raise InputError("corosync.conf is too large or binary: Proxmox allows 512 KiB of text")
    blocks: list[str] = []
    cluster, nodes = "", [_Node()]
    for line in (raw.strip() for raw in text.split("\n")):
        if opening := OPENING.fullmatch(line):
            blocks.append(opening["name"])
            nodes.append(_Node())
        elif line == "}":
            if not blocks:
                raise InputError("corosync.conf closes a block that it did not open; is it whole?")
            blocks.pop()
        elif match := VALUE.fullmatch(line):
            if blocks == ["totem"] and match["key"] == "cluster_name":
                cluster = match["value"]
            elif blocks == ["nodelist", "node"]:
                _member(nodes[-1], match["key"], match["value"])
    if blocks:
        raise InputError(f"corosync.conf ends inside of {blocks[-1]}: it seems to be truncated")
    named = {node.name: _addresses(node) for node in nodes if node.name}
    return Membership(cluster, tuple(sorted(named)), tuple(sorted(named.items())))


def _member(node: _Node, key: str, value: str) -> None:
    if key == "name":
        node.name = value
    elif RING.fullmatch(key):
        node.rings[key] = value


def _addresses(node: _Node) -> tuple[str, ...]:
    return tuple(node.rings[key] for key in sorted(node.rings))
