"""Programs for encrypted backups.

restic, BorgBackup and Kopia always encrypt, unless somebody has asked them not to. rclone,
Duplicacy and Proxmox's client do where they were given a key or a crypt remote, which was not seen:
whether they do is tentative. gocryptfs is a file system, not a backup.

Ciphers: restic AES-256-CTR, BorgBackup 1 AES-256-CTR, BorgBackup 2 AES-256-OCB, Kopia AES-256-GCM,
rclone XSalsa20 (`unmask.crypto.consumers` has the sources); Duplicacy AES-256-GCM from Go (its
wiki, "Encryption"); proxmox-backup-client AES-256-GCM from OpenSSL (pbs-tools, crypt_config.rs);
duplicity calls GnuPG, which encrypts with AES-CFB (RFC 4880, section 13.9).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from unmask.model.finding import Confidence
from unmask.model.inside import Inside
from unmask.model.inside_programs import BackupTool
from unmask.model.inventory import Guest
from unmask.model.workload import Activity, Finder, Workload, WorkloadKind
from unmask.workloads._asked import entered, listed, owed, said, shortfalls
from unmask.workloads._library import openssl


@dataclass(frozen=True, slots=True)
class _Tool:
    consumer: str
    cipher: str
    always: bool = True
    """It encrypts without being told to."""


_TOOLS = {
    "restic": _Tool("restic", "AES-256-CTR"),
    "borg": _Tool("borg", "AES-256-CTR"),
    "kopia": _Tool("kopia", "AES-256-GCM"),
    "rclone": _Tool("rclone", "XSalsa20", always=False),
    "duplicity": _Tool("libgcrypt", "AES-256-CFB"),
    "duplicacy": _Tool("go", "AES-256-GCM", always=False),
    "rustic": _Tool("", "AES-256-CTR"),
    "proxmox-backup-client": _Tool("openssl", "AES-256-GCM", always=False),
}
_BORG_2 = _Tool("openssl", "AES-256-OCB")
_ON_OPENSSL = ("borg", "openssl")
"""Consumers whose version is OpenSSL's."""


def find(guest: Guest) -> Iterator[Workload]:
    """Yield each tool that is installed or scheduled."""
    inside = entered(guest)
    if inside is None:
        return
    for tool in said(inside.backups, ()):
        known = _BORG_2 if _borg_2(tool) else _TOOLS.get(tool.name)
        if known:
            yield _workload(inside, tool, known)
    owed(inside.backups)


def _borg_2(tool: BackupTool) -> bool:
    return tool.name == "borg" and tool.version.startswith("2.")


def _workload(inside: Inside, tool: BackupTool, known: _Tool) -> Workload:
    crypto = openssl(inside) if known.consumer in _ON_OPENSSL else None
    sure = known.always and tool.schedules
    return Workload(
        kind=WorkloadKind.BACKUP,
        name=tool.name,
        consumer=known.consumer if crypto is None or crypto.consumer else "",
        cipher=known.cipher,
        version=_version(tool, known, crypto.version if crypto else ""),
        detail=" ".join(word for word in (tool.name, tool.version) if word),
        activity=Activity.CONFIGURED,
        evidence=(
            *_evidence(tool, known),
            *(crypto.evidence if crypto else ()),
            *shortfalls(inside, "backups"),
        ),
        confidence=Confidence.FIRM if sure else Confidence.TENTATIVE,
    )


def _version(tool: BackupTool, known: _Tool, openssl_version: str) -> str:
    """Return the version that the consumer is judged by: hardly ever the tool's own."""
    if known.consumer in _ON_OPENSSL:
        return openssl_version
    return tool.version if known.consumer == "rclone" else ""


def _evidence(tool: BackupTool, known: _Tool) -> Iterator[str]:
    where = f" as {tool.path}" if tool.path else ""
    if tool.path or tool.version:
        yield f"{tool.name} is installed{where}."
    if tool.schedules:
        yield f"It is started by {listed(tool.schedules)}."
    else:
        yield "Nothing that starts it was found."
    if not known.always:
        yield "Whether it was told to encrypt was not seen."


WORKLOAD = Finder(WorkloadKind.BACKUP, find)
