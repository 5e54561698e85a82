"""Which encryption software needs which flags of a CPU, and what it does without them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache

from unmask.cpu import data_file


@dataclass(frozen=True, slots=True)
class Consumer:
    """Software whose speed, or start, hangs on CPU flags."""

    name: str
    needs: tuple[str, ...]
    without: str
    """What happens where one of them is missing."""
    origin: str
    """Where that was read, and with which release it was measured."""

    def verdict(self, flags: Collection[str]) -> str:
        """Return "has what it needs", or what is missing and what comes of it."""
        missing = [flag for flag in self.needs if flag not in flags]
        if not missing:
            return "has what it needs"
        return f"lacks {', '.join(missing)}: {self.without}"


@cache
def consumers() -> tuple[Consumer, ...]:
    """Return what is known, disks first, then networks, then what does not start at all."""
    return tuple(
        Consumer(entry["name"], tuple(entry["needs"].split()), entry["without"], entry["origin"])
        for entry in data_file.read("consumers")["consumers"]
    )
