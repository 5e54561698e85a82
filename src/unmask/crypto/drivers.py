"""What the name of a driver in Linux's /proc/crypto proves, and what does not prove anything."""

from __future__ import annotations

import re
from dataclasses import replace

from unmask.model.finding import Confidence
from unmask.model.outlook import Note, NoteKind, Outlook, Status

_TEMPLATES = frozenset(
    ("xts", "ecb", "cbc", "ctr", "gcm", "gcm_base", "rfc4106", "rfc4543", "rfc7539", "essiv",
     "authenc", "seqiv", "echainiv", "cryptd", "pcrypt", "adiantum", "ccm", "ccm_base", "hmac",
     "cmac", "cts", "lrw", "aes", "nhpoly1305")
)  # fmt: skip
_SOFTWARE = re.compile(r"generic|fixed-time|neonbs|-asm$|-x86_64$")
_HARDWARE = re.compile(r"aesni|vaes|clmul|pclmul|-ni$|-ce$|-ce-|padlock|-s390$|^p8_|-vsx$|qat|ccp")


def meaning(driver: str) -> Status:
    """Return what a driver proves: HARDWARE, SOFTWARE, PARTIAL (parts of both), or UNKNOWN.

    Drivers that end in "-lib" call the kernel's library, which picks its code out of sight (since
    Linux 6.18 for SHA, ChaCha20 and CRC, in 7.x for AES too): they prove nothing. A name that is
    not known proves nothing either.
    """
    words = [word for word in re.split(r"[(),]+", driver.strip()[:200]) if word]
    kinds = {_kind(word.removeprefix("__")) for word in words if word not in _TEMPLATES}
    if not kinds or Status.UNKNOWN in kinds:
        return Status.UNKNOWN
    return kinds.pop() if len(kinds) == 1 else Status.PARTIAL


def _kind(word: str) -> Status:
    if word.endswith("-lib"):
        return Status.UNKNOWN
    if _SOFTWARE.search(word):
        return Status.SOFTWARE
    return Status.HARDWARE if _HARDWARE.search(word) else Status.UNKNOWN


def confirmed(outlook: Outlook, driver: str) -> Outlook:
    """Return an outlook as corrected by the driver that the guest's kernel really uses.

    A flag is not its use: a kernel without aesni_intel runs AES in software on a CPU that shows
    `aes`. A driver that proves nothing, and an emulated CPU, leave the outlook as it is.
    """
    seen = meaning(driver)
    if seen in (Status.UNKNOWN, outlook.status) or outlook.noted(NoteKind.EMULATED):
        return outlook
    how = f"the kernel's driver {driver.strip()[:200]}"
    changed = replace(
        outlook, status=seen, how=how, factor=None, of_best=None, factor_origin="", better=()
    )
    if outlook.status is Status.HARDWARE:
        text = (
            "The flags are shown and not used: the kernel takes the driver "
            f"{driver.strip()[:200]}. Is its module (aesni_intel) there and loaded?"
        )
        return replace(
            changed, notes=(*outlook.notes, Note(NoteKind.UNUSED, text, Confidence.CERTAIN))
        )
    return changed
