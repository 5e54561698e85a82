"""A source: a place that an inventory comes from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from unmask.errors import UnmaskError
from unmask.model.access import Access
from unmask.model.entry import NOBODY, VisitOptions
from unmask.model.inventory import Inventory
from unmask.model.ssh import SshOptions


def silent(_text: str) -> None:
    """Take a line about progress, and say nothing."""


@dataclass(frozen=True, slots=True)
class CollectOptions:
    """What a collection may cost, and how it gets in."""

    timeout: float = 60.0
    """Seconds that reading one target may take."""
    workers: int = 16
    """Requests in flight at once."""
    ssh: SshOptions = field(default_factory=SshOptions)
    """How to log in where the target is reached by SSH."""
    access: Access = field(default_factory=Access)
    visits: VisitOptions = NOBODY
    """How to look into the guests; by default nobody does."""
    progress: Callable[[str], None] = silent
    """Is told how far it is, a few words at a time; "" when it is over."""


class Interrupted(UnmaskError):  # noqa: N818 - it is the operator's wish, not an error
    """Ctrl-C ended the reading of a target."""

    exit_code = 130

    def __init__(self, inventory: Inventory) -> None:
        super().__init__("reading was interrupted")
        self.inventory = inventory
        """What was read so far; its gaps name the rest."""


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
    live: bool = True
    """Whether the guests are there to be looked into: not where copies of files were read."""
