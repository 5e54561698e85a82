"""File-level encryption, and VeraCrypt: what is mounted, and what fscrypt is set up for.

eCryptfs and fscrypt encrypt in the kernel, gocryptfs and EncFS in programs. VeraCrypt leaves it to
dm-crypt unless it is told not to. Whose code CryFS and securefs use was not looked at, and an
rclone mount may hold an encrypted remote or a plain one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from unmask.model.finding import Confidence
from unmask.model.inside import Inside
from unmask.model.inside_programs import OpenSsl
from unmask.model.inside_storage import FileEncryption, VolumeKind
from unmask.model.inventory import Guest
from unmask.model.workload import Activity, Finder, Workload, WorkloadKind
from unmask.workloads import _disk_encryption
from unmask.workloads._asked import entered, owed, said, shortfalls, system

FORMATS = frozenset((VolumeKind.VERACRYPT,))


@dataclass(frozen=True, slots=True)
class _Software:
    """Whose code encrypts, and what it does unless it says otherwise."""

    consumer: str
    name: str
    cipher: str = ""
    remark: str = ""
    confidence: Confidence = Confidence.FIRM


UNSEEN = "With whose code it encrypts was not looked at."
SOFTWARE = {
    "gocryptfs": _Software("gocryptfs", "gocryptfs"),
    # Linux, fs/ecryptfs/crypto.c: extents in CBC, AES unless the mount says otherwise.
    "ecryptfs": _Software("linux", "eCryptfs", "aes-cbc"),
    # Linux, fs/crypto/keysetup.c: AES-128-CBC and Adiantum can be chosen for contents too.
    "fscrypt": _Software(
        "dm-crypt", "fscrypt", "aes-256-xts", "AES-256-XTS, the default for contents, is assumed."
    ),
    # EncFS 1.9, SSL_Cipher.cpp: OpenSSL's CBC for whole blocks, CFB for the last one.
    "encfs": _Software("openssl", "EncFS", "aes-256-cbc", "EncFS may be set to Blowfish too."),
    "cryfs": _Software("", "CryFS", "", UNSEEN),
    "securefs": _Software("", "securefs", "", UNSEEN),
    "rclone": _Software(
        "rclone", "rclone", "", "Whether this remote is an encrypted one was not seen.",
        Confidence.TENTATIVE,
    ),
    "veracrypt": _Software(
        "dm-crypt", "VeraCrypt", "aes-xts-plain64",
        "VeraCrypt's default, AES in XTS by the kernel, is assumed.", Confidence.TENTATIVE,
    ),
}  # fmt: skip
"""By the type of the file system."""


def find(guest: Guest) -> Iterator[Workload]:
    """Yield what is mounted or set up; raises `UnreadError` where mounts were not read."""
    opened = 0
    for volume in _disk_encryption.of_kinds(guest, WorkloadKind.FILES, FORMATS):
        opened += volume.activity is Activity.ACTIVE
        yield volume
    inside = entered(guest)
    if inside is None:
        return
    for item in said(inside.file_encryption, ()):
        if item.kind == "veracrypt" and opened:
            opened -= 1  # its control mount; the mapping has told more
        elif item.kind in SOFTWARE:
            yield _workload(inside, item, SOFTWARE[item.kind])
    if system(inside).kernel_name in ("Linux", ""):
        owed(inside.file_encryption)


def _workload(inside: Inside, item: FileEncryption, software: _Software) -> Workload:
    cipher = software.cipher
    if item.kind == "ecryptfs" and item.cipher:
        cipher = f"{item.cipher}-cbc"
    driver = None
    if software.consumer in ("linux", "dm-crypt"):
        driver = _disk_encryption.serving(inside, _as_dm_crypt(cipher))
    set_up = item.kind == "fscrypt"
    root = inside.root is True and software.confidence is Confidence.FIRM and not set_up
    return Workload(
        kind=WorkloadKind.FILES,
        name=item.mountpoint or item.source or software.name,
        consumer=software.consumer,
        cipher=cipher,
        version=_version(inside, software),
        detail=_detail(item, software),
        activity=Activity.CONFIGURED if set_up else Activity.ACTIVE,
        evidence=tuple(_evidence(inside, item, software, driver.driver if driver else "")),
        confidence=Confidence.CERTAIN if root else software.confidence,
        driver=driver.driver if driver else "",
    )


def _as_dm_crypt(cipher: str) -> str:
    """Return "aes-xts" of "aes-256-xts"."""
    return "-".join(word for word in cipher.split("-") if not word.isdigit())


def _version(inside: Inside, software: _Software) -> str:
    if software.consumer in ("linux", "dm-crypt"):
        return system(inside).kernel
    if software.consumer == "openssl":
        version = said(inside.openssl, OpenSsl()).version
        return version if version.startswith("OpenSSL ") else ""
    return ""


def _detail(item: FileEncryption, software: _Software) -> str:
    on = f" of {item.source}" if item.source and item.source != item.mountpoint else ""
    bits = f", {item.key_bits}-bit key" if item.key_bits else ""
    return f"{software.name}{on}{bits}"


def _evidence(
    inside: Inside, item: FileEncryption, software: _Software, driver: str
) -> Iterator[str]:
    place = item.mountpoint or "a place without a name"
    if item.kind == "fscrypt":
        yield f"{place} is set up for fscrypt; which folders it encrypts was not looked for."
    else:
        yield f"{software.name} is mounted at {place}."
    if software.remark:
        yield software.remark
    if driver:
        yield f"The kernel serves such a cipher by {driver}."
    yield from shortfalls(inside, "file_encryption")


WORKLOAD = Finder(WorkloadKind.FILES, find)
