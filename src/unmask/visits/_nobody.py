"""The channel of a target that has none: every way through the hypervisor is shut."""

from __future__ import annotations

from typing import NoReturn

from unmask.model.inventory import Guest
from unmask.visits._channel import NoWayError


class Nobody:
    """Refuses everything, with one reason."""

    def __init__(self, reason: str, needs: str = "") -> None:
        self.reason = reason
        self.needs = needs

    def agent(self, guest: Guest) -> NoReturn:  # noqa: ARG002
        """Raise `NoWayError`."""
        raise NoWayError(self.reason, self.needs)

    def addresses(self, guest: Guest) -> NoReturn:  # noqa: ARG002
        """Raise `NoWayError`."""
        raise NoWayError(self.reason, self.needs)

    def disks(self, guest: Guest, seconds: float) -> NoReturn:  # noqa: ARG002
        """Raise `NoWayError`."""
        raise NoWayError(self.reason, self.needs)
