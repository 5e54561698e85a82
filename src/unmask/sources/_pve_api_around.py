"""What a cluster's API tells of where its guests can be.

Storages and mappings that one may not see are left out of the lists silently, so that a name that
is not listed is only known not to exist where `access/permissions` says that one would see it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from unmask.dialects.proxmox import ha, mapping, storage
from unmask.dialects.proxmox.ha import Rules
from unmask.dialects.proxmox.permissions import granted
from unmask.dialects.proxmox.surroundings import Surroundings
from unmask.model.reading import Known, Missing, Reading
from unmask.sources._pve_api_answers import REPLICATION, Answers, Row, absent, values

T = TypeVar("T")

STORAGE = "storage"
RULES = "cluster/ha/rules"
RESOURCES = "cluster/ha/resources"
GROUPS = "cluster/ha/groups"
MAPPING = "cluster/mapping/{kind}"

KINDS = {"hostpci": "pci", "usb": "usb", "virtiofs": "dir"}
"""Of mappings, by the options of a guest that name them."""

SEEING = {
    "storage": ("/storage/{name}", ("Datastore.Audit", "Datastore.AllocateSpace")),
    "mapping": ("/mapping/{kind}/{name}", ("Mapping.Audit", "Mapping.Use", "Mapping.Modify")),
}
"""Path and privileges, of which any one is enough, the first being the least."""


def kinds(answers: Answers) -> list[str]:
    """Return the kinds of mapping that any guest names, sorted."""
    found = set()
    for reading in answers.pending.values():
        for key, value in values(reading.value).items() if isinstance(reading, Known) else ():
            kind = KINDS.get(key.rstrip("0123456789"))
            if kind == "dir" or (kind and "mapping=" in value):
                found.add(kind)
    return sorted(found)


def surroundings(
    answers: Answers, nodes: Iterable[str], replicas: Mapping[str, Iterable[str]]
) -> Surroundings:
    """Return what there is around the guests of the cluster.

    Args:
        answers: Of its API.
        nodes: Names of all its nodes.
        replicas: Names of the nodes that the disks of each guest are replicated to, by VMID.
    """
    return Surroundings(
        nodes=tuple(sorted(nodes)),
        storages=_made(answers.storages, storage.of_rows),
        mappings={
            kind: _made(reading, mapping.of_rows) for kind, reading in answers.mappings.items()
        },
        replicas={vmid: frozenset(names) for vmid, names in replicas.items()},
        unreplicated=answers.replication
        if isinstance(answers.replication, Missing) and answers.replication != absent(REPLICATION)
        else None,
        hidden=lambda kind, name: _hidden(answers.permissions, kind, name),
    )


def _made(
    reading: Reading[list[Row]], make: Callable[[Iterable[Row]], Mapping[str, T]]
) -> Reading[Mapping[str, T]]:
    return Known(make(reading.value)) if isinstance(reading, Known) else reading


def _hidden(permissions: Reading[Row], kind: str, name: str) -> Missing | None:
    """Return what it takes to see something that is not listed, None where it is not there."""
    place, privileges = SEEING["storage" if kind == "storage" else "mapping"]
    path = place.format(kind=kind, name=name)
    if isinstance(permissions, Known) and any(
        granted(permissions.value, path, privilege) for privilege in privileges
    ):
        return None
    what = f"the storage {name}" if kind == "storage" else f"the {kind} mapping {name}"
    return Missing(f"{what} is not listed: it may not be seen", f"{privileges[0]} on {path}")


def rules(answers: Answers) -> Reading[Rules]:
    """Return the rules of high availability, or the groups of a version before them."""
    if isinstance(answers.rules, Known):
        return Known(ha.of_rows(answers.rules.value))
    if answers.rules != absent(RULES):
        return answers.rules
    if isinstance(answers.managed, Missing):
        return answers.managed
    if not isinstance(answers.groups, Missing):
        return Known(ha.of_rows((), answers.managed.value, answers.groups.value))
    return (
        answers.groups if any("group" in row for row in answers.managed.value) else Known(Rules())
    )
