"""What a JSON report says, in the words that tables for people have for it."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

FLAGS = {"AES": ("aes", "aes"), "CLMUL": ("pclmulqdq", "pmull")}
"""Flag on x86 and on ARM by column."""
WORDS = {"shown": "yes", "hidden": "no", "host": "host", "unknown": "?"}
ORDER = ("critical", "high", "medium", "low", "info")


def worst(report: Any) -> dict[str, str]:
    """Return the worst severity by subject of what has a finding that is not accepted."""
    found: dict[str, set[str]] = defaultdict(set)
    for finding in report["findings"]:
        found[finding["subject"]].add(finding["severity"])
    return {subject: min(some, key=ORDER.index) for subject, some in found.items()}


def counts(report: Any) -> Counter[str]:
    """Return the number of findings by severity."""
    return Counter(finding["severity"] for finding in report["findings"])


def cell(guest: Any, column: str) -> tuple[str, ...]:
    """Return what a flag is now, and what it will be after a stop and start if that differs."""
    cpu = guest["cpu"]
    name = FLAGS[column][guest["arch"] == "aarch64"]

    def word(view: Any) -> str:
        return WORDS[view["features"][name]]

    now = word(cpu)
    if guest["observed"] and now in ("host", "?"):
        now = word(guest["observed"])
    later = word(cpu["after_restart"]) if cpu["after_restart"] else now
    return (now,) if later == now else (now, later)


def move(one: Any) -> str:
    """Return what becomes of one move of `unmask migrate-check`."""
    live, cold = one["live"], one["cold"]
    if live == "possible":
        return "live only" if cold == "blocked" else "live"
    words = ["live?"] if live == "unknown" else []
    words += {"possible": ["cold"], "unknown": ["cold?"], "blocked": []}[cold]
    return " ".join(words) or "no"
