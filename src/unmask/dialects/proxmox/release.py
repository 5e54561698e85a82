"""Compare versions of Proxmox VE, whose qemu-server package carries the same major number."""

from __future__ import annotations

NEWEST = "9"
"""Assumed where a source does not say; a bare major number stands for its newest release."""

OPEN_END = 9999


def at_least(version: str, wanted: str) -> bool:
    """Return whether `version` ("9", "8.4", "9.1.14") is `wanted` or newer.

    A version that names fewer numbers is taken as the newest release that begins with them.
    """
    have = [int(part) if part.isdigit() else 0 for part in version.split(".")]
    want = [int(part) for part in wanted.split(".")]
    have += [OPEN_END] * (len(want) - len(have))
    return have >= want
