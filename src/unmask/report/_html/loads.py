"""An encrypted workload as the page shows it."""

from __future__ import annotations

from dataclasses import dataclass

from unmask.crypto.sentence import percent
from unmask.model.finding import Confidence
from unmask.model.outlook import Status
from unmask.model.workload import Activity, JudgedWorkload, WorkloadKind
from unmask.report import _workloads
from unmask.report._html.labels import sentence
from unmask.report._text import clean

NAME = 60
WORK = {
    WorkloadKind.ZFS: "ZFS encryption",
    WorkloadKind.LUKS: "LUKS disk encryption",
    WorkloadKind.BITLOCKER: "BitLocker",
    WorkloadKind.GELI: "GELI disk encryption",
    WorkloadKind.FILES: "file encryption",
    WorkloadKind.TLS: "TLS",
    WorkloadKind.DATABASE: "database encryption",
    WorkloadKind.OPENVPN: "OpenVPN",
    WorkloadKind.IPSEC: "IPsec",
    WorkloadKind.WIREGUARD: "WireGuard",
    WorkloadKind.SSH: "SSH",
    WorkloadKind.SAMBA: "SMB encryption",
    WorkloadKind.BACKUP: "backup encryption",
}
OWNED = ("encryption", "TLS", "SSH")
"""Ends of words after which a name wants an "of"."""
ACTIVITY = {
    Activity.ACTIVE: "in use",
    Activity.CONFIGURED: "set up",
    Activity.CLOSED: "closed now",
    Activity.DECLARED: "declared only",
}


@dataclass(frozen=True, slots=True)
class Load:
    """One workload of one guest."""

    kind: str
    """"zfs"."""
    name: str
    status: str
    doubt: bool
    """The status rests on a guess."""
    keeps: str
    """"0.6 %"; "" where it is not known."""
    cipher: str
    detail: str
    how: str
    missing: str
    activity: str


def load(item: JudgedWorkload) -> Load:
    """Return a workload, cleaned and bounded."""
    found, outlook = item.workload, item.outlook
    factor = outlook.factor if outlook else None
    return Load(
        kind=str(found.kind),
        name=_short(found.name),
        status=item.status,
        doubt=found.confidence is Confidence.TENTATIVE and item.status != Status.HARDWARE,
        keeps="" if factor is None else percent(factor),
        cipher=clean(found.cipher or (outlook.cipher if outlook else ""), NAME),
        detail=clean(found.detail, NAME),
        how=sentence(outlook.how, 200) if outlook else "",
        missing=", ".join(outlook.missing) if outlook else "",
        activity=ACTIVITY[found.activity],
    )


def called(item: JudgedWorkload) -> str:
    """Return "ZFS encryption of tank", "OpenVPN (server.conf)"."""
    found = item.workload
    words, name = WORK[found.kind], _short(found.name)
    if not name or name.lower() == str(found.kind):
        return words
    joined = "of " if words.endswith(OWNED) else ""
    return f"{words} {joined}{name}"


def _short(text: str) -> str:
    """Return a name; of a path the end tells most."""
    name = clean(text, NAME)
    return "/".join(name.split("/")[-2:]) if name.startswith("/") else name


def worst(items: tuple[JudgedWorkload, ...]) -> str:
    """Return the worst status among workloads, "none" where there are none."""
    return min((item.status for item in items), key=_workloads.WORDS.index, default="none")
