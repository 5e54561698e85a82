"""Versions of software as packages and programs write them."""

from __future__ import annotations

import re
from functools import lru_cache

_NUMBERS = re.compile(r"\d{1,9}(?:\.\d{1,9}){0,5}")
_EPOCH = re.compile(r"^\d{1,9}:")


@lru_cache(maxsize=512)
def parse(written: str) -> tuple[int, ...]:
    """Return the numbers of a version; () where there are none.

    "3.0.20-1~deb12u2" is (3, 0, 20), "go1.24.4" (1, 24, 4), "OpenSSL 1.1.1w" (1, 1, 1). A
    package's epoch ("1:9.2") and everything behind the numbers is left out.
    """
    found = _NUMBERS.search(_EPOCH.sub("", written.strip()))
    if not found:
        return ()
    return tuple(int(part) for part in found.group().split("."))


def within(version: tuple[int, ...], since: str, below: str) -> bool | None:
    """Return whether a version is at least `since` and below `below`; "" is no limit.

    None where there is a limit and the version is not known.
    """
    if not (since or below):
        return True
    if not version:
        return None
    return version >= parse(since) and (not below or version < parse(below))
