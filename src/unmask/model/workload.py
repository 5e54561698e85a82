"""Encrypted work that a guest does, how sure that is, and how its CPU serves it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from unmask.model.finding import Confidence
from unmask.model.inventory import Guest
from unmask.model.outlook import Outlook, Status

NOT_AFFECTED = "not-affected"


class WorkloadKind(StrEnum):
    """What is encrypted, in the operator's words; also how it is declared."""

    ZFS = "zfs"
    """OpenZFS's native encryption."""
    LUKS = "luks"
    """dm-crypt: LUKS, plain mappings."""
    BITLOCKER = "bitlocker"
    GELI = "geli"
    FILES = "files"
    """File-level encryption: gocryptfs, eCryptfs, fscrypt, VeraCrypt ..."""
    TLS = "tls"
    """A server that speaks TLS."""
    DATABASE = "database"
    """A database with TLS or encryption at rest."""
    OPENVPN = "openvpn"
    IPSEC = "ipsec"
    WIREGUARD = "wireguard"
    SSH = "ssh"
    SAMBA = "samba"
    BACKUP = "backup"


class Activity(StrEnum):
    """Whether the work is really done."""

    ACTIVE = "active"
    """It was seen open, mounted, connected or listening."""
    CONFIGURED = "configured"
    """It is installed or set up; whether it is used was not seen."""
    CLOSED = "closed"
    """It is there, and locked or unmounted now."""
    DECLARED = "declared"
    """Only the operator says so."""


@dataclass(frozen=True, slots=True)
class Workload:
    """One encrypted workload of a guest."""

    kind: WorkloadKind
    name: str
    """What it is called there: a dataset, device, port, interface, program; "" where it is only
    declared."""
    consumer: str
    """Whose cryptography does it: an identity of `unmask.crypto.consumers`; "" where unknown."""
    cipher: str = ""
    """As the software writes it; "" where its default is taken."""
    version: str = ""
    """Of the consumer."""
    detail: str = ""
    """For people, beside name and cipher: "OpenSSL 3.0.20, port 443"."""
    activity: Activity = Activity.CONFIGURED
    evidence: tuple[str, ...] = ()
    """What was seen, a sentence each, with where."""
    confidence: Confidence = Confidence.FIRM
    driver: str = ""
    """The kernel's driver or implementation that was seen in use: "xts-aes-aesni"."""
    host_side: bool = False
    """The host, or the drive itself, encrypts: the guest's CPU model plays no part."""
    ports: tuple[int, ...] = ()
    """Where it listens, sorted; none where it does not or that is not known."""


@dataclass(frozen=True, slots=True)
class JudgedWorkload:
    """A workload with what to expect of it on the CPU that its guest sees."""

    workload: Workload
    outlook: Outlook | None
    """None where the host encrypts, or where nobody knows whose code does it."""

    @property
    def status(self) -> str:
        """Return "hardware", "partial", "software", "unknown" or "not-affected"."""
        if self.workload.host_side:
            return NOT_AFFECTED
        if self.outlook is None:
            return Status.UNKNOWN.value
        if self.outlook.status is Status.NOT_APPLICABLE:
            return NOT_AFFECTED
        return self.outlook.status.value


@dataclass(frozen=True, slots=True)
class Unread:
    """A kind of workload that could not be looked for, or only in part."""

    kind: WorkloadKind
    reason: str
    needs: str = ""


@dataclass(frozen=True, slots=True)
class Finder:
    """One kind of workload. `find` yields what the guest has; what it yields before raising counts.

    It raises `UnreadError` where somebody looked inside and just this could not be read, and says
    nothing where nobody looked at all: the inventory's gaps say that.
    """

    kind: WorkloadKind
    find: Callable[[Guest], Iterable[Workload]]
