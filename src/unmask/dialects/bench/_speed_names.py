"""What `openssl speed` calls an algorithm, in the one spelling that unmask uses."""

from __future__ import annotations

import re

_ID = re.compile(r"^id-aes(?P<bits>\d{3})-(?P<mode>\w+)$")
_LOW_LEVEL = re.compile(r"^(?:aes|camellia)-\d{3} (?:cbc|ige)$", re.IGNORECASE)
_CAPITALS = re.compile(r"^[A-Z][A-Z0-9]*-[A-Z0-9-]*$")
AES = re.compile(r"^aes-?(?:128|192|256)\b")


def algorithm(name: str) -> str:
    """Return "aes-128-gcm" for "AES-128-GCM", "aes-128 gcm", "id-aes128-GCM"."""
    name = "-".join(name.strip().lower().split())
    match = _ID.match(name)
    if match:
        return f"aes-{match['bits']}-{match['mode']}"
    return name


def is_aes(name: str) -> bool:
    """Return whether AES does the work of an algorithm with this (our) name."""
    return bool(AES.match(name))


def interface(name: str, release: tuple[int, ...]) -> bool | None:
    """Return whether the EVP interface was measured, as the printed name tells; None for neither.

    Before 3.0 the names of the low-level code have a blank ("aes-128 cbc") and those of `-evp` are
    the cipher's own. From 3.0 on everything is EVP.

    Args:
        name: As it was printed.
        release: The library's version, (1, 0, 2); () where it is not known.
    """
    if _LOW_LEVEL.match(name.strip()):
        return False
    if _CAPITALS.match(name.strip()) or release >= (3,):
        return True
    return True if is_aes(algorithm(name)) else None
