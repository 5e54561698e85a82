"""What a hypervisor has to offer to whoever wants to look into its guests."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from unmask.errors import UnmaskError
from unmask.model.disk import Disk
from unmask.model.inventory import Guest, Inventory
from unmask.model.reading import Reading
from unmask.model.source import CollectOptions


class NoWayError(UnmaskError):
    """A way does not lead into this guest; never seen by the operator, it becomes an `Attempt`."""

    def __init__(self, reason: str, needs: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.needs = needs


class Agent(Protocol):
    """The QEMU guest agent of one guest."""

    def system(self) -> str:
        """Return `guest-get-osinfo`'s id ("debian", "mswindows"); "" where it does not tell."""

    def run(self, argv: Sequence[str], stdin: bytes, seconds: float, limit: int) -> bytes:
        """Run a program in the guest and return its standard output, whatever its exit status.

        Args:
            argv: The program with its arguments.
            stdin: Given to it; it then sees the end of its input.
            seconds: After which it is left alone.
            limit: Bytes that are kept of its output.

        Raises:
            NoWayError: The agent does not run, may not run programs, or did not answer in time.
        """


class Channel(Protocol):
    """One target's way to its guests. Called by many threads at once.

    A method that a target cannot serve raises `NoWayError` with what would be needed.
    """

    def agent(self, guest: Guest) -> Agent:
        """Return the agent of a running guest."""

    def addresses(self, guest: Guest) -> tuple[str, ...]:
        """Return its IP addresses, the likeliest to be reached first, without loopback."""

    def disks(self, guest: Guest, seconds: float) -> Reading[tuple[Disk, ...]]:
        """Return its disks and what their first sectors say, read without writing or locking."""


@dataclass(frozen=True, slots=True)
class Hypervisor:
    """A kind of target whose guests can be entered; a plug-in module's `HYPERVISOR`.

    `open` is given the target, how to get in, and what was collected; it may raise `TargetError`,
    which is then the reason for every guest.
    """

    name: str
    fits: Callable[[str], bool]
    open: Callable[[str, CollectOptions, Inventory], AbstractContextManager[Channel]]
