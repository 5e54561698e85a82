"""Name and nodes of a cluster out of corosync.conf (corosync.conf(5))."""

from __future__ import annotations

import re
from dataclasses import dataclass

from unmask.errors import InputError

LIMIT = 512 * 1024
"""Characters."""

OPENING = re.compile(r"(?P<name>[a-z_]+)\s*\{")
VALUE = re.compile(r"(?P<key>[a-z0-9_]+)\s*:\s*(?P<value>.*\S)")


@dataclass(frozen=True, slots=True)
class Membership:
    """What a cluster calls itself and which nodes belong to it."""

    cluster: str
    """"" where the file does not name it."""
    nodes: tuple[str, ...]
    """Sorted."""


def parse(text: str) -> Membership:
    """Return the cluster that `text` describes.

    Raises:
        InputError: The text is too large, binary, or its braces do not match.
    """
    if len(text) > LIMIT or "\0" in text:
        raise InputError("corosync.conf is too large or binary: Proxmox allows 512 KiB of text")
    blocks: list[str] = []
    cluster, nodes = "", set()
    for line in (raw.strip() for raw in text.split("\n")):
        if opening := OPENING.fullmatch(line):
            blocks.append(opening["name"])
        elif line == "}":
            if not blocks:
                raise InputError("corosync.conf closes a block that it did not open; is it whole?")
            blocks.pop()
        elif match := VALUE.fullmatch(line):
            if blocks == ["totem"] and match["key"] == "cluster_name":
                cluster = match["value"]
            elif blocks == ["nodelist", "node"] and match["key"] == "name":
                nodes.add(match["value"])
    if blocks:
        raise InputError(f"corosync.conf ends inside of {blocks[-1]}: it seems to be truncated")
    return Membership(cluster, tuple(sorted(nodes)))
