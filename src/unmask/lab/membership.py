"""The nodes of a cluster with their addresses and votes, out of corosync.conf."""

from __future__ import annotations

import re
from dataclasses import dataclass

BLOCK = re.compile(r"node\s*\{(?P<body>[^}]*)\}")
VALUE = re.compile(r"^\s*([a-z0-9_]+)\s*:\s*(\S+)\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Member:
    """One node of the cluster."""

    name: str
    ident: int
    address: str
    votes: int = 1


def members(text: str) -> tuple[Member, ...]:
    """Return the nodes in the order of the file."""
    found = []
    for block in BLOCK.finditer(text):
        values = dict(VALUE.findall(block["body"]))
        votes = int(values.get("quorum_votes", "1"))
        member = Member(values["name"], int(values["nodeid"]), values["ring0_addr"], votes)
        found.append(member)
    return tuple(found)


def cluster_name(text: str) -> str:
    """Return the name of the cluster."""
    match = re.search(r"^\s*cluster_name\s*:\s*(\S+)", text, re.MULTILINE)
    return match[1] if match else ""
