"""Where high availability lets guests be: rules (Proxmox VE 9) and groups (before).

Sources: PVE/HA/Rules/{Node,Resource}Affinity.pm, PVE/HA/Groups.pm and PVE/API2/HA/Rules.pm of
pve-ha-manager 5. A rule of a node list is a preference unless it is strict; one about other guests
must be kept, and counts only with two guests or more. Groups that are left over count as rules. A
guest in the state `ignored` is not looked after.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from unmask.dialects.excerpt import excerpt
from unmask.dialects.proxmox import section_file
from unmask.dialects.proxmox.storage import LIST, NAME_LIMIT, names, switched
from unmask.model.tie import Confinement

NODES = "node-affinity"
GUESTS = "resource-affinity"
IGNORED = "ignored"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule, or a group with the guests that are in it."""

    name: str
    guests: tuple[str, ...]
    """VMIDs, in the order of the rule."""
    nodes: tuple[str, ...] = ()
    """Sorted; none for a rule about other guests."""
    strict: bool = True
    together: bool = False
    """Of a rule about other guests: whether they share a node, not avoid each other."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Everything that confines guests of one cluster."""

    rules: tuple[Rule, ...] = ()
    _by_guest: dict[str, list[Rule]] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        for rule in self.rules:
            for vmid in rule.guests:
                self._by_guest.setdefault(vmid, []).append(rule)

    def of(self, vmid: str, cluster: str) -> tuple[Confinement, ...]:
        """Return what confines one guest, in the order of the rules.

        Args:
            vmid: Of the guest.
            cluster: Its `Cluster.subject`, which the subjects of all its guests begin with.
        """
        return tuple(_confinement(rule, vmid, cluster) for rule in self._by_guest.get(vmid, ()))


def _confinement(rule: Rule, vmid: str, cluster: str) -> Confinement:
    if rule.nodes:
        return Confinement(rule.name, rule.nodes, rule.strict)
    others = tuple(f"{cluster}/{other}" for other in rule.guests if other != vmid)
    if rule.together:
        return Confinement(rule.name, together=others)
    return Confinement(rule.name, apart=others)


def parse(rules: str, resources: str, groups: str) -> Rules:
    """Return what ha/rules.cfg, ha/resources.cfg and ha/groups.cfg say; "" for one not there."""
    listed = [
        {"type": kind.strip(), "rule": name.strip(), **keys}
        for head, keys in section_file.parse(rules).items()
        for kind, _, name in [head.partition(":")]
    ]
    guests = [
        {"sid": ":".join(part.strip() for part in head.split(":", 1)), **keys}
        for head, keys in section_file.parse(resources).items()
    ]
    grouped = [
        {"group": head.partition(":")[2].strip(), **keys}
        for head, keys in section_file.parse(groups).items()
        if head.startswith("group")
    ]
    return of_rows(listed, guests, grouped)


def of_rows(
    rules: Iterable[Mapping[str, Any]],
    resources: Iterable[Mapping[str, Any]] = (),
    groups: Iterable[Mapping[str, Any]] = (),
) -> Rules:
    """Return what answers to `GET /cluster/ha/rules`, `.../resources` and `.../groups` say.

    The answer on rules has those made of groups already, and errors where a rule is left out.
    """
    managed = [_words(row) for row in resources]
    ignored = {_vmid(row.get("sid", "")) for row in managed if row.get("state") == IGNORED}
    found = [
        rule
        for row in rules
        if not row.get("errors") and (rule := _rule(_words(row), ignored)) is not None
    ]
    found += [rule for row in groups if (rule := _group(_words(row), managed, ignored)) is not None]
    return Rules(tuple(found))


def _words(row: Mapping[str, Any]) -> dict[str, str]:
    return {
        key: str(int(value)) if isinstance(value, bool) else str(value)
        for key, value in row.items()
        if isinstance(value, str | int)
    }


def _vmid(sid: str) -> str:
    """Return the VMID of "vm:101"."""
    return excerpt(sid.partition(":")[2].strip(), NAME_LIMIT)


def _rule(keys: Mapping[str, str], ignored: set[str]) -> Rule | None:
    """Return a rule that counts."""
    name = excerpt(keys.get("rule", ""), NAME_LIMIT)
    guests = tuple(
        vmid
        for sid in LIST.split(keys.get("resources", ""))
        if (vmid := _vmid(sid)) and vmid not in ignored
    )
    if switched(keys, "disable") or not guests:
        return None
    if keys.get("type") == NODES:
        nodes = names(keys.get("nodes", ""))
        return Rule(name, guests, nodes, switched(keys, "strict")) if nodes else None
    if keys.get("type") == GUESTS and len(guests) > 1:
        return Rule(name, guests, together=keys.get("affinity") == "positive")
    return None


def _group(
    keys: Mapping[str, str], resources: Iterable[Mapping[str, str]], ignored: set[str]
) -> Rule | None:
    name, nodes = keys.get("group", ""), names(keys.get("nodes", ""))
    guests = tuple(
        vmid
        for row in resources
        if row.get("group") == name and (vmid := _vmid(row.get("sid", ""))) not in ignored
    )
    if not (guests and nodes):
        return None
    said = f"group {excerpt(name, NAME_LIMIT)}"
    return Rule(said, guests, nodes, switched(keys, "restricted"))
