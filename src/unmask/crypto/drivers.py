"""What the name of a driver in Linux's /proc/crypto proves, and what does not prove anything.

OpenZFS's parameters ("icp_gcm_impl=avx"), what FreeBSD says of a GELI provider ("accelerated
software") and the devices of its drivers ("cryptosoft0") are taken too.
"""

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
# The kernel's "generic-gcm-aesni" is GCM for everybody but IPsec, and no generic code.
_SOFTWARE = re.compile(r"generic$|fixed-time|neonbs|-asm$|-x86_64$")
_HARDWARE = re.compile(r"aesni|vaes|clmul|pclmul|-ni$|-ce$|-ce-|padlock|-s390$|^p8_|-vsx$|qat|ccp")
_AES_LIBRARY = re.compile(r"\baes-lib\b")
"""Where this has the highest priority, none of the drivers of aesni_intel is registered."""
_SAID = {
    "software": Status.SOFTWARE,
    "accelerated software": Status.HARDWARE,
    "hardware": Status.HARDWARE,
    "aesni0": Status.HARDWARE,
    "cryptosoft0": Status.SOFTWARE,
    "icp_gcm_impl=avx2-vaes": Status.HARDWARE,
    "icp_gcm_impl=avx": Status.HARDWARE,
    "icp_gcm_impl=pclmulqdq": Status.PARTIAL,
    "icp_gcm_impl=generic": Status.SOFTWARE,
    "icp_aes_impl=aesni": Status.HARDWARE,
    "icp_aes_impl=x86_64": Status.SOFTWARE,
    "icp_aes_impl=generic": Status.SOFTWARE,
}
"""GELI's words (FreeBSD, sys/geom/eli; up to FreeBSD 12 aesni(4) counts as hardware), and the
implementations of OpenZFS's ICP."""


def meaning(driver: str) -> Status:
    """Return what a driver proves: HARDWARE, SOFTWARE, PARTIAL (parts of both), or UNKNOWN.

    Drivers that end in "-lib" call the kernel's library, which picks its code out of sight (since
    Linux 6.18 for SHA, ChaCha20 and CRC, in 7.x for AES too): they prove nothing. A name that is
    not known proves nothing either.
    """
    if driver in _SAID:
        return _SAID[driver]
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
    `aes`. A driver that proves nothing, and an emulated CPU, leave the outlook as it is; only that
    the kernel's library does AES rules the fast drivers out, and what it does instead is not known.
    """
    seen = meaning(driver)
    if _AES_LIBRARY.search(driver) and outlook.status is Status.HARDWARE:
        return _out_of_sight(outlook, driver.strip()[:200])
    if seen in (Status.UNKNOWN, outlook.status) or outlook.noted(NoteKind.EMULATED):
        return outlook
    if outlook.status is Status.NOT_APPLICABLE:
        return outlook
    who, doubt = _speaker(driver.strip()[:200])
    missing = () if seen is Status.HARDWARE else outlook.missing
    changed = replace(
        outlook,
        status=seen,
        how=who,
        missing=missing,
        factor=None,
        of_best=None,
        factor_origin="",
        better=(),
    )
    if outlook.status is Status.HARDWARE:
        text = f"The flags are shown and not used: it runs on {who}. {doubt}"
        return replace(
            changed, notes=(*outlook.notes, Note(NoteKind.UNUSED, text, Confidence.CERTAIN))
        )
    return changed


def _out_of_sight(outlook: Outlook, driver: str) -> Outlook:
    how = f"the kernel's driver {driver}, whose name does not tell whether it uses AES-NI"
    note = Note(NoteKind.UNDECIDED, f"It runs on {how}. Is aesni_intel there and loaded?")
    return outlook.left_open(how, (*outlook.notes, note))


def _speaker(driver: str) -> tuple[str, str]:
    """Return what it runs on, and what may be the reason if that is slower than it need be."""
    if driver.startswith("icp_"):
        name = driver.partition("=")[0]
        return f"OpenZFS's {driver}", f"Was the module's parameter {name} set by hand?"
    if driver in ("aesni0", "cryptosoft0"):
        return f"FreeBSD's driver {driver}", "Is aesni(4) loaded?"
    if driver in _SAID:
        return f"what GELI calls {driver}", "Is aesni(4) loaded?"
    return f"the kernel's driver {driver}", "Is its module (aesni_intel) there and loaded?"
