"""Nodes of a Proxmox VE cluster that do not answer, so that they are not asked for ever."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

TRIPS = 3
"""Failures in a row after which a node is not asked any more."""


@dataclass(slots=True)
class Breaker:
    """Remembers which nodes do not answer, so that not every guest of theirs is waited for."""

    failures: dict[str, int] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def failed(self, node: str) -> None:
        """Note that a request to a node has failed for good."""
        with self.lock:
            self.failures[node] = self.failures.get(node, 0) + 1

    def answered(self, node: str) -> None:
        """Note that a node has answered."""
        if node in self.failures:
            with self.lock:
                self.failures.pop(node, None)

    def tripped(self, node: str) -> bool:
        """Return whether the node is not to be asked any more."""
        return bool(node) and self.failures.get(node, 0) >= TRIPS
