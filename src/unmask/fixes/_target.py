"""What a hypervisor has to offer to whoever wants to change the CPU of one of its guests."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from unmask import plugins
from unmask.errors import ChangeError, UsageError
from unmask.model.change import Place, Setting
from unmask.model.inventory import GuestState
from unmask.model.source import CollectOptions


class ChangedError(ChangeError):
    """The guest's configuration is not as it was when it was planned; nothing was written."""


class RefusedError(ChangeError):
    """The hypervisor refused, with its reason; nothing was written."""


class Target(Protocol):
    """The configuration of one guest, and its power button.

    Every method may raise `TargetError`: the hypervisor cannot be reached or did not answer. After
    one from `write` nobody knows whether it was written; the caller looks with `read`.
    """

    def read(self) -> Setting:
        """Return what the configuration says of the CPU now, for the guest's next start.

        Where a change waits for a stop of the guest (Proxmox VE's pending values), it is the
        waiting value. `digest` is of the whole configuration, or of all but the CPU.
        """

    def same(self, left: Setting, right: Setting) -> bool:
        """Return whether two settings ask for the same CPU, however the hypervisor spells them.

        Digests are not compared. An unset option is not the same as one set to its default.
        """

    def write(self, before: Setting, after: Setting) -> None:
        """Put `after.value` in the place of `before.value`, and touch nothing else.

        Args:
            before: As `read` returned it; its digest guards the write.
            after: Its `value` is written (None takes the option away); its digest is not looked at.

        Raises:
            ChangedError: It is no longer as `before` says. Nothing was written.
            RefusedError: The hypervisor did not take it, or its task failed. Nothing was written.
            TargetError: The answer was lost.
        """

    def state(self) -> GuestState:
        """Return whether the guest runs."""

    def shut_down(self, seconds: float, *, force: bool) -> None:
        """Ask the guest to shut down, and return when it is off.

        Args:
            seconds: It is given.
            force: Pull the plug after that. Without it a guest that stays on is left as it is.

        Raises:
            RefusedError: The hypervisor refused, or the guest was not off in time.
        """

    def start(self, seconds: float) -> None:
        """Start a guest that is off, and return when the hypervisor says that it runs.

        Raises:
            RefusedError: It does not start, with the hypervisor's reason, or not in time.
        """

    def close(self) -> None:
        """Let the connection go; raises nothing."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of target whose guests can be changed; a plug-in module's `TARGET`.

    `fits` looks at the spelling of `Place.target`. `open` may raise `TargetError`,
    `MissingPackageError` or `UsageError`, and finds a guest that has moved to another node.
    """

    name: str
    fits: Callable[[str], bool]
    open: Callable[[Place, CollectOptions], Target]


@cache
def kinds() -> tuple[Kind, ...]:
    """Return the `TARGET` of every module of this package that defines one, by module name."""
    package = "unmask.fixes"
    modules = (importlib.import_module(f"{package}.{name}") for name in plugins.names(package))
    found = (getattr(module, "TARGET", None) for module in modules)
    return tuple(kind for kind in found if isinstance(kind, Kind))


def open_target(place: Place, options: CollectOptions) -> Target:
    """Open the configuration of a guest.

    Raises:
        UsageError: Guests of such a target cannot be changed: it is a copy of files, say.
        TargetError: It cannot be reached.
    """
    for kind in kinds():
        if kind.fits(place.target):
            return kind.open(place, options)
    raise UsageError(
        f"{place.target}: its guests cannot be changed from here; name the hypervisor itself, "
        "pve://HOST, pve+ssh://HOST or a libvirt URI"
    )
