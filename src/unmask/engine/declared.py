"""What the operator says of a guest's workloads, laid beside what was found.

A declaration adds what nobody saw, names the software where it was not recognised, and denies what
is merely set up. It never hides what was seen at work or locked inside the guest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from unmask.crypto.ciphers import family
from unmask.crypto.consumers import consumers
from unmask.model.finding import Confidence
from unmask.model.inside import Inside
from unmask.model.inventory import Guest
from unmask.model.reading import Known
from unmask.model.visit import Declaration
from unmask.model.workload import Activity, Unread, Workload, WorkloadKind

USUAL = {
    WorkloadKind.ZFS: "openzfs",
    WorkloadKind.LUKS: "dm-crypt",
    WorkloadKind.BITLOCKER: "windows",
    WorkloadKind.GELI: "freebsd",
    WorkloadKind.TLS: "openssl",
    WorkloadKind.DATABASE: "openssl",
    WorkloadKind.OPENVPN: "openvpn",
    WorkloadKind.IPSEC: "ipsec",
    WorkloadKind.WIREGUARD: "wireguard",
    WorkloadKind.SSH: "openssl",
    WorkloadKind.SAMBA: "gnutls",
}
"""Who encrypts where nothing else is said; for files and backups that is anybody's guess."""

ASSUMED = frozenset((WorkloadKind.TLS, WorkloadKind.DATABASE))
"""Kinds of which other software is about as likely."""


def applied(
    guest: Guest, found: Sequence[Workload], unread: Sequence[Unread]
) -> tuple[list[Workload], list[Unread]]:
    """Return workloads and unread kinds as the guest's declarations change them.

    Where two declarations speak of one kind, the later one counts.
    """
    left, open_ = list(found), list(unread)
    for told in {item.kind: item for item in guest.declared}.values():
        if told.kind not in set(WorkloadKind):
            continue
        kind = WorkloadKind(told.kind)
        if told.present:
            left = _affirmed(guest, kind, told, left)
        else:
            left = [_contradicted(item, told) for item in left if not _denied(item, kind)]
            open_ = [item for item in open_ if item.kind is not kind]
    return left, open_


def _denied(workload: Workload, kind: WorkloadKind) -> bool:
    configured = workload.activity is Activity.CONFIGURED and not workload.host_side
    return workload.kind is kind and configured


def _contradicted(workload: Workload, told: Declaration) -> Workload:
    if workload.kind.value != told.kind or workload.host_side:
        return workload
    said = f"It is there although it is denied by {told.where}."
    return replace(workload, evidence=(*workload.evidence, said))


def _affirmed(
    guest: Guest, kind: WorkloadKind, told: Declaration, found: list[Workload]
) -> list[Workload]:
    if not any(item.kind is kind and not item.host_side for item in found):
        return [*found, _workload(guest, kind, told)]
    consumer, _ = meaning(told.detail)
    return [_named(item, consumer, told) if item.kind is kind else item for item in found]


def _named(workload: Workload, consumer: str, told: Declaration) -> Workload:
    """Fill in who encrypts where that was not recognised."""
    if workload.consumer or workload.host_side or not consumer:
        return workload
    said = f"Its software was not recognised: {told.detail} is declared by {told.where}."
    return replace(
        workload,
        consumer=consumer,
        evidence=(*workload.evidence, said),
        confidence=Confidence.TENTATIVE,
    )


def _workload(guest: Guest, kind: WorkloadKind, told: Declaration) -> Workload:
    named, cipher = meaning(told.detail)
    consumer = named or _usual(guest, kind)
    detail = f" ({told.detail})" if told.detail else ""
    evidence = [f"Nothing of it was seen: it is declared by {told.where}{detail}."]
    if not consumer:
        evidence.append(f"Its software is not declared, so that nothing follows: {_like(kind)}.")
    elif not named and kind in ASSUMED:
        name = consumers()[consumer].name
        evidence.append(f"Its library is not declared, and {name} is assumed: {_like(kind)}.")
    return Workload(
        kind=kind,
        name="",
        consumer=consumer,
        cipher=cipher,
        detail=", ".join(filter(None, (told.detail, f"declared by {told.where}"))),
        activity=Activity.DECLARED,
        evidence=tuple(evidence),
        confidence=Confidence.TENTATIVE,
    )


def _like(kind: WorkloadKind) -> str:
    example = {WorkloadKind.FILES: "gocryptfs", WorkloadKind.BACKUP: "restic"}.get(kind, "go")
    return f"write it as {kind.value}({example})"


def _usual(guest: Guest, kind: WorkloadKind) -> str:
    inside = guest.visit.inside
    if kind is WorkloadKind.ZFS and isinstance(inside, Known) and _freebsd(inside.value):
        return "freebsd"
    return USUAL.get(kind, "")


def _freebsd(inside: Inside) -> bool:
    return isinstance(inside.system, Known) and inside.system.value.kernel_name == "FreeBSD"


def meaning(detail: str) -> tuple[str, str]:
    """Return the consumer and the cipher that a declaration names, "" for what it does not.

    "go" is a consumer, "aes-256-gcm" a cipher, "openssl chacha20" both.
    """
    consumer = cipher = ""
    for word in detail.lower().replace(",", " ").split():
        if word in consumers():
            consumer = consumer or word
        elif family(word) not in ("", "unrecognised"):
            cipher = cipher or word
    return consumer, cipher
