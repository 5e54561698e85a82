"""Faults that the lab shows on demand, written KIND[=VALUE][@TEXT].

A fault with `@TEXT` meets only the requests whose path contains TEXT.
"""

from __future__ import annotations

import itertools
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

from unmask.errors import UsageError

KINDS = {
    "latency": (0.5, "seconds before every answer"),
    "5xx": (3, "every nth answer is 502, 503 or 596 in turn"),
    "resets": (3, "every nth connection is reset instead of an answer"),
    "truncated": (3, "every nth answer breaks off in the middle of its JSON"),
    "html": (1, "every nth answer is the HTML page of a proxy"),
    "401-mid-run": (10, "after n requests every login is refused"),
    "node-down": (2, "the nth node is off, its guests' last states stay"),
    "no-quorum": (1, "the cluster has no majority"),
    "slow-drip": (0.05, "seconds between the pieces of every answer"),
}
"""What there is, with the value that is meant where none is given."""

COUNTED = ("5xx", "resets", "truncated", "html", "node-down")
"""Kinds whose value is a number of something, from 1 on; the others' is from 0 on."""
MOST = 1_000_000

WRITTEN = re.compile(r"(?P<kind>[0-9a-z-]+)(=(?P<value>[^@]+))?(@(?P<text>.+))?")


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault."""

    kind: str
    value: float
    text: str = ""
    """Part of the paths that it meets; "" for all of them."""


def parse(written: str) -> Fault:
    """Return the fault that `written` names.

    Raises:
        UsageError: There is no such fault, or its value is not a number that it can have.
    """
    match = WRITTEN.fullmatch(written)
    if match is None or match["kind"] not in KINDS:
        known = ", ".join(KINDS)
        raise UsageError(f"The lab knows no fault {written!r}: choose from {known}.")
    default = KINDS[match["kind"]][0]
    try:
        value = float(match["value"]) if match["value"] else float(default)
    except ValueError as error:
        raise UsageError(f"The value of the fault {written!r} must be a number.") from error
    counted = match["kind"] in COUNTED
    if not int(counted) <= value <= MOST or (counted and value != int(value)):
        wanted = "a whole number from 1" if counted else "a number from 0"
        raise UsageError(f"The value of the fault {written!r} must be {wanted} to {MOST}.")
    return Fault(match["kind"], value, match["text"] or "")


@dataclass(slots=True)
class Faults:
    """The faults in force, and how many requests each one has met."""

    active: dict[str, Fault] = field(default_factory=dict)
    met: dict[str, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _failures: Iterator[tuple[int, str]] = field(
        default_factory=lambda: itertools.cycle([
            (502, "Bad Gateway"), (503, "Service Unavailable"), (596, "Connection timed out"),
        ])
    )  # fmt: skip

    def set(self, fault: Fault) -> None:
        """Put a fault in force; another one of its kind gives way."""
        with self._lock:
            self.active[fault.kind] = fault
            self.met[fault.kind] = 0

    def clear(self, kind: str = "") -> None:
        """Take one kind of fault away, or all of them."""
        with self._lock:
            for name in [kind] if kind else list(self.active):
                self.active.pop(name, None)

    def value(self, kind: str, path: str) -> float:
        """Return the value of a fault that meets `path`, 0 where none does."""
        fault = self.active.get(kind)
        return fault.value if fault and fault.text in path else 0.0

    def strikes(self, kind: str, path: str) -> bool:
        """Return whether this request is the nth that the fault waits for."""
        with self._lock:
            fault = self.active.get(kind)
            if fault is None or fault.text not in path:
                return False
            self.met[kind] += 1
            return self.met[kind] % max(1, int(fault.value)) == 0

    def spent(self, kind: str, path: str) -> bool:
        """Return whether more requests have come than the fault lets pass."""
        with self._lock:
            fault = self.active.get(kind)
            if fault is None or fault.text not in path:
                return False
            self.met[kind] += 1
            return self.met[kind] > fault.value

    def failure(self) -> tuple[int, str]:
        """Return status and reason phrase of the next failure."""
        with self._lock:
            return next(self._failures)
