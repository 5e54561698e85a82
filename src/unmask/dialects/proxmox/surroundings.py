"""What there is around a guest in its cluster that decides where it can be."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from unmask.dialects.proxmox.mapping import Mapped
from unmask.dialects.proxmox.storage import Storage
from unmask.model.reading import Known, Missing, Reading

T = TypeVar("T")

NOT_READ = Missing("it was not read")


def _nowhere(kind: str, name: str) -> None:
    """Return that nothing is hidden: what is not listed does not exist."""
    del kind, name


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The nodes of a cluster and what is configured for all of them."""

    nodes: tuple[str, ...] = ()
    """Names of all nodes, sorted."""
    storages: Reading[Mapping[str, Storage]] = NOT_READ
    mappings: Mapping[str, Reading[Mapping[str, Mapped]]] = field(default_factory=dict)
    """By kind: "pci", "usb", "dir"."""
    replicas: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Names of the nodes that the disks of a guest are replicated to, by VMID."""
    unreplicated: Missing | None = None
    """Why it is not known which guests are replicated; None where it is."""
    hidden: Callable[[str, str], Missing | None] = _nowhere
    """What would let a storage ("storage", NAME) or mapping ("pci", NAME) be seen that is not
    listed; None where everything there is would be."""

    def storage(self, name: str) -> Reading[Storage] | None:
        """Return a storage; None where it does not exist."""
        return self._found("storage", self.storages, name)

    def mapped(self, kind: str, name: str) -> Reading[Mapped] | None:
        """Return a mapping; None where it does not exist."""
        return self._found(kind, self.mappings.get(kind, NOT_READ), name)

    def _found(self, kind: str, reading: Reading[Mapping[str, T]], name: str) -> Reading[T] | None:
        if isinstance(reading, Missing):
            return reading
        if name in reading.value:
            return Known(reading.value[name])
        return self.hidden(kind, name)
