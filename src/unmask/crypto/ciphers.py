"""The family that a cipher belongs to, as kernels, protocols and programs write it."""

from __future__ import annotations

import re
from functools import lru_cache

FAMILIES: tuple[str, ...] = (
    "xts", "gcm", "ccm", "ctr", "cbc", "ghash", "chacha20", "salsa20", "sha", "aegis", "relative",
    "other", "unrecognised",
)  # fmt: skip
"""`other` is a known cipher that is not AES, ChaCha20 or Salsa20, or none at all; no AES flag
matters to it.

AEGIS is made of AES's rounds. A `relative` has an S-box like AES's: Linux has drivers for Camellia,
ARIA and SM4 that use the AES instructions (arch/x86/crypto), and libraries mostly have none.
"""

_OTHER = (
    r"serpent|twofish|blowfish|cast[56]|3des|des3|\bdes\b|(?<![a-z])bf-"
    r"|rc4|arcfour|\bidea|\bseed|anubis|kuznyechik|magma|speck"
    # No encryption at all, which has a mode in its name too: "cipher_null-ecb", "NULL-SHA256".
    r"|cipher_null|^null|^none$"
)
_WORDS: tuple[tuple[str, str], ...] = (
    ("chacha20", r"chacha|adiantum"),
    ("salsa20", r"salsa"),
    ("aegis", r"aegis"),
    ("relative", r"camellia|\baria|sm4"),
    ("other", _OTHER),
    ("gcm", r"gcm|gmac"),
    ("ghash", r"ghash"),
    ("ccm", r"ccm"),
    ("xts", r"xts"),
    ("ctr", r"ctr|(?<!es)siv|ocb|icm"),
    ("cbc", r"cbc|cts|ecb|essiv|elephant|lrw|cfb|ofb|aes-?(?:128|256)-sha"),
    ("sha", r"^(?:hmac-)?sha-?[0-9]"),
)
_UNSAID = re.compile(r"^(?:on|yes|default|aes(?:[-_]?(?:128|192|256))?)?$")


@lru_cache(maxsize=512)
def family(written: str) -> str:
    """Return the family of a cipher; "" where the text leaves the mode open, or says nothing.

    Takes the names of dm-crypt ("aes-xts-plain64"), OpenZFS ("aes-256-gcm", "on"), TLS
    ("ECDHE-RSA-AES128-GCM-SHA256"; AES with a hash and no mode, "AES128-SHA", is CBC there and in
    IPsec), OpenSSH ("aes256-gcm@openssh.com"), BitLocker ("XTS-AES 256") and /proc/crypto
    ("rfc4106(gcm(aes))"). A name that none of it fits is "unrecognised".
    """
    word = written.strip().lower()[:200]
    if word in FAMILIES:
        return word
    if _UNSAID.match(word):
        return ""
    for name, pattern in _WORDS:
        if re.search(pattern, word):
            return name
    return "unrecognised"
