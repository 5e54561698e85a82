"""A guest's configuration as Proxmox VE's `pending` tells it: what is, and what waits for a stop.

One answer has both and the digest, so that they belong together (PVE/GuestHelpers.pm,
config_with_pending_array).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from unmask.errors import TargetError

CPU = "cpu"
BESIDE = frozenset({CPU, "digest", "lock", "parent", "snapstate"})
"""What may change while nobody changes an option: jobs lock the guest, snapshots become parents."""
DIGEST = re.compile(r"[0-9a-f]{40}")
MADE = re.compile(r"(?:^|,)ctime=(\d{1,12})(?:,|$)")
"""In `meta`, which is written when a guest is created, cloned or restored, and never again."""
ODD = "the answer on the guest's configuration is not what Proxmox VE sends"


@dataclass(frozen=True, slots=True)
class Config:
    """A guest's options."""

    options: Mapping[str, str]
    """As the next start will use them, without the digest."""
    current: str | None
    """`cpu` as it is in force, for a guest that runs."""
    waits: bool
    """Whether a change of `cpu` waits for a stop."""
    digest: str

    @property
    def cpu(self) -> str | None:
        """Return `cpu` for the next start, None where it is not set."""
        return self.options.get(CPU)

    @property
    def made(self) -> str:
        """Return when the guest was made, in seconds since 1970, "" where it does not say."""
        found = MADE.search(self.options.get("meta", ""))
        return found[1] if found else ""

    @property
    def others(self) -> Mapping[str, str]:
        """Return all options that nobody has a reason to change here."""
        return {key: value for key, value in self.options.items() if key not in BESIDE}


def read(rows: Any) -> Config:
    """Return the configuration that the rows of `pending` describe.

    Raises:
        TargetError: They are none.
    """
    if not isinstance(rows, list):
        raise TargetError(ODD)
    options: dict[str, str] = {}
    current, waits = None, False
    for row in rows:
        if not isinstance(row, dict) or not isinstance(row.get("key"), str):
            raise TargetError(ODD)
        key = row["key"]
        if key == CPU:
            current, waits = _text(row.get("value")), "pending" in row or "delete" in row
        gone = "delete" in row and "pending" not in row
        value = None if gone else _text(row.get("pending", row.get("value")))
        if value is not None:
            options[key] = value
    digest = options.pop("digest", "")
    if not DIGEST.fullmatch(digest):
        raise TargetError(ODD)
    return Config(options, current, waits, digest)


def _text(value: Any) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str | int | float):
        raise TargetError(ODD)
    return str(value)


def differences(before: Config, after: Config) -> tuple[str, ...]:
    """Return the names of options that differ, `cpu` and what changes by itself aside."""
    old, new = before.others, after.others
    return tuple(sorted(key for key in {*old, *new} if old.get(key) != new.get(key)))
