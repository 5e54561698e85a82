"""What a cluster's API has answered, checked for shape and not yet made sense of."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from unmask.model.reading import Known, Missing, Reading

Row: TypeAlias = Mapping[str, Any]
"""An object of an answer; the values are whatever the server sent."""

NODE = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?")
"""What Proxmox VE allows as a node's name (pve-node); safe in a path."""

SNAPSHOT = re.compile(r"[A-Za-z][A-Za-z0-9_-]{1,39}")
"""What it allows as a snapshot's name (pve-configid)."""

REPLICATION = "cluster/replication"
NOT_ASKED = Missing("it was not asked for")


def absent(path: str) -> Missing:
    """Return what is known of a route that this version of Proxmox VE does not have."""
    return Missing(f"this version has no {path}")


@dataclass(frozen=True, slots=True)
class Listed:
    """A guest as `cluster/resources` lists it."""

    vmid: str
    node: str
    kind: str
    """"qemu" or "lxc"."""
    row: Row

    @property
    def stateless(self) -> Listed:
        """Return the guest without its state, which a node that is gone cannot have told."""
        return replace(self, row={**self.row, "status": "unknown"})


@dataclass(slots=True)
class Answers:
    """Everything that was read of one cluster."""

    version: str
    """"9.2.11"."""
    status: Reading[list[Row]] = NOT_ASKED
    nodes: Reading[list[Row]] = NOT_ASKED
    resources: Reading[list[Row]] = NOT_ASKED
    permissions: Reading[Row] = NOT_ASKED
    models: Reading[list[Row]] = NOT_ASKED
    """The cluster's custom CPU models with their definitions."""
    model_names: Reading[list[Row]] = NOT_ASKED
    """All CPU models by name; asked for where there are no definitions."""
    flags: Reading[list[Row]] = NOT_ASKED
    """CPU flags and the nodes whose hypervisor can give them to guests."""
    replication: Reading[list[Row]] = NOT_ASKED
    storages: Reading[list[Row]] = NOT_ASKED
    rules: Reading[list[Row]] = NOT_ASKED
    """Of high availability; absent before Proxmox VE 9, which has `groups` of those `managed`."""
    managed: Reading[list[Row]] = NOT_ASKED
    groups: Reading[list[Row]] = NOT_ASKED
    mappings: dict[str, Reading[list[Row]]] = field(default_factory=dict)
    """Of devices and directories, by the kinds that any guest has: "pci", "usb", "dir"."""
    hosts: dict[str, Reading[Row]] = field(default_factory=dict)
    """`nodes/NODE/status` by node."""
    machines: dict[str, Reading[list[Row]]] = field(default_factory=dict)
    pending: dict[str, Reading[list[Row]]] = field(default_factory=dict)
    """Values and pending values of each virtual machine, by VMID."""
    snapshots: dict[str, Reading[list[Row]]] = field(default_factory=dict)
    with_memory: dict[tuple[str, str], Reading[Row]] = field(default_factory=dict)
    """Configurations of snapshots with memory, by VMID and name."""
    reached: dict[str, Reading[Row]] = field(default_factory=dict)
    """`nodes/NODE/version` of nodes outside of a partition without quorum."""
    interrupted: bool = False
    late: bool = False

    @property
    def release(self) -> str:
        """Return the major version: the only number that qemu-server shares with Proxmox VE."""
        return self.version.partition(".")[0]

    @property
    def online(self) -> dict[str, bool]:
        """Return whether each node is online, by its name; sorted.

        `cluster/resources` goes on telling the last states of a dead node for minutes, so that
        only these two decide.
        """
        found: dict[str, bool] = {}
        if isinstance(self.nodes, Known):
            for row in self.nodes.value:
                found[str(row.get("node", ""))] = row.get("status") != "offline"
        if isinstance(self.status, Known):
            for row in self.status.value:
                if row.get("type") == "node":
                    found[str(row.get("name", ""))] = number(row.get("online")) == 1
        return {name: found[name] for name in sorted(found) if NODE.fullmatch(name)}

    @property
    def quorate(self) -> bool:
        """Return whether the cluster has a majority, as far as it is known."""
        listed = self.status.value if isinstance(self.status, Known) else []
        return not any(
            item.get("type") == "cluster" and number(item.get("quorate")) == 0 for item in listed
        )

    def answers_for(self, node: str) -> bool:
        """Return whether a node can be asked, be it a member of the partition or not."""
        return self.online.get(node, True) or isinstance(self.reached.get(node), Known)

    @property
    def guests(self) -> list[Listed]:
        """Return the guests that the cluster lists, in order of their VMID."""
        found: dict[int, Listed] = {}
        for row in self.resources.value if isinstance(self.resources, Known) else []:
            vmid, node, kind = number(row.get("vmid")), str(row.get("node", "")), row.get("type")
            if vmid > 0 and NODE.fullmatch(node) and kind in ("qemu", "lxc"):
                found[vmid] = Listed(str(vmid), node, str(kind), row)
        return [found[vmid] for vmid in sorted(found)]


def number(value: Any) -> int:
    """Return a whole number that came as a number or as text; -1 for anything else."""
    if isinstance(value, bool | int):
        return int(value)
    return int(value) if isinstance(value, str) and re.fullmatch(r"[0-9]{1,18}", value) else -1


def rows(value: Any) -> list[Row] | None:
    """Return a list of objects, None where the value is none."""
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        return None
    return value


def row(value: Any) -> Row | None:
    """Return an object, None where the value is none."""
    return value if isinstance(value, dict) else None


def values(listed: list[Row]) -> dict[str, str]:
    """Return the current values of a `pending` answer as its file would spell them."""
    return {
        str(item["key"]): text(item["value"])
        for item in listed
        if "key" in item and "value" in item and item["key"] != "digest"
    }


def text(value: Any) -> str:
    """Return a value as a configuration spells it."""
    return str(int(value)) if isinstance(value, bool) else str(value)
