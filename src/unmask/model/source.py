"""A source: a place that an inventory comes from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from unmask.model.inventory import Inventory
from unmask.model.ssh import SshOptions


@dataclass(frozen=True, slots=True)
class CollectOptions:
    """What a collection may cost."""

    timeout: float = 60.0
    """Seconds that reading one target may take."""
    workers: int = 8
    """Requests in flight at once."""
    ssh: SshOptions = field(default_factory=SshOptions)


@dataclass(frozen=True, slots=True)
class Source:
    """One kind of target.

    `fits` looks at the target's spelling and, for local paths, at what lies there, without opening
    a connection. `collect` raises `TargetError` or `InputError` where nothing at all can be read;
    what is merely incomplete becomes a `Gap` or a `Missing`.
    """

    name: str
    summary: str
    """How the target is written, for help texts: "qemu:///system, any libvirt URI"."""
    fits: Callable[[str], bool]
    collect: Callable[[str, CollectOptions], Inventory]
    order: int = 50
    """Sources are asked in this order, lowest first."""
