"""How unmask got into a guest, or why it did not, and what was seen of it from outside."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from unmask.model.disk import Disk
from unmask.model.inside import UNASKED, Inside
from unmask.model.reading import Missing, Reading
from unmask.model.tls_endpoint import TlsEndpoint

UNSEEN_DISKS = Missing("nobody has looked at the guest's disks")


class Way(StrEnum):
    """A way to learn what is encrypted in a guest, in the order in which they are tried."""

    AGENT = "agent"
    """The QEMU guest agent, by way of the hypervisor."""
    SSH = "ssh"
    DISK = "disk"
    """The first sectors of its disks, read by the hypervisor; works for stopped guests."""
    NET = "net"
    """TLS connections to its ports."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A way that led nowhere."""

    way: Way
    reason: str
    """Why, as the end of "not by the guest agent: ..."."""
    needs: str = ""
    """What would open it: a privilege, a package, a login."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """What the operator says of a guest's workloads."""

    kind: str
    """A workload's kind: "luks", "tls"."""
    present: bool
    """False: it is declared that there is none."""
    where: str
    """Where it is said, for people: "the tag unmask-luks", "its notes", "unmask.toml"."""
    detail: str = ""
    """What stands behind the kind: a cipher or library, "aes-xts", "go"."""


@dataclass(frozen=True, slots=True)
class Visit:
    """All that was learnt of one guest beside its configuration."""

    inside: Reading[Inside] = UNASKED
    """What the first way that led in has read there."""
    way: Way | None = None
    """The way by which `inside` was read."""
    by: str = ""
    """Who it was read as or through: "root@10.0.0.7:22", "the guest agent"."""
    attempts: tuple[Attempt, ...] = ()
    disks: Reading[tuple[Disk, ...]] = UNSEEN_DISKS
    endpoints: tuple[TlsEndpoint, ...] = ()
    addresses: tuple[str, ...] = ()
    """IP addresses, the most likely to be reached first."""

    @property
    def tried(self) -> bool:
        """Return whether anybody tried to look inside."""
        return self.way is not None or bool(self.attempts)


UNVISITED = Visit()
