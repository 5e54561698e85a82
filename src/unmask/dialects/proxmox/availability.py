"""What a cluster does to keep guests available: ha/resources.cfg and replication.cfg.

Sources: PVE/HA/Resources.pm (a resource without a state is to be `started`) and
PVE/ReplicationConfig.pm (jobs are called VMID-NUMBER) of Proxmox VE 9.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from unmask.dialects.excerpt import excerpt
from unmask.dialects.proxmox import section_file
from unmask.model.inventory import Guest

WORD_LIMIT = 80
"""Characters of a state or a node's name."""


@dataclass(frozen=True, slots=True)
class Availability:
    """Both by VMID."""

    states: Mapping[str, str]
    """The state that the resource manager is to keep a guest in."""
    replicas: Mapping[str, frozenset[str]]
    """Names of nodes."""

    def of(self, guest: Guest) -> Guest:
        """Return the guest with what is done to keep it available."""
        return replace(
            guest,
            high_availability=self.states.get(guest.ident, ""),
            replicas=tuple(sorted(self.replicas.get(guest.ident, ()))),
        )


def read(resources: str, replication: str) -> Availability:
    """Return what the two files say; "" for one that is not there."""
    states = {}
    for head, keys in section_file.parse(resources).items():
        kind, _, vmid = head.partition(":")
        if kind in ("vm", "ct"):
            states[vmid.strip()] = excerpt(keys.get("state") or "started", WORD_LIMIT)
    replicas: dict[str, frozenset[str]] = {}
    for head, keys in section_file.parse(replication).items():
        vmid = head.partition(":")[2].strip().partition("-")[0]
        target = excerpt(keys.get("target", ""), WORD_LIMIT)
        if target and "disable" not in keys:
            replicas[vmid] = replicas.get(vmid, frozenset()) | {target}
    return Availability(states, replicas)
