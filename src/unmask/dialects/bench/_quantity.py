"""Amounts and rates as tools print them: "3708.8 MiB/s", "1,2 GiB/s", "17.6 MB/s", "19.5KB/s"."""

from __future__ import annotations

import math
import re

HIGHEST = 200e9
"""Bytes a second that no disk, link or processor reaches here."""

_FACTORS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
NUMBER = r"\d{1,18}(?:[.,]\d{1,9})?"
_AMOUNT = re.compile(rf"(?P<number>{NUMBER})\s?(?P<prefix>[kmgt]?)(?P<binary>i?)", re.IGNORECASE)


def decimal(text: str) -> float:
    """Return the number that was printed with a point or, in other languages, with a comma."""
    return float(text.replace(",", "."))


def scaled(text: str, *, binary: bool = False) -> float:
    """Return the amount that begins `text`: "17.6 MB" is 17,600,000.

    Args:
        text: A number and a unit; "i" behind the prefix means powers of 1024.
        binary: Prefixes without "i" mean powers of 1024 too, as this tool has it.

    Raises:
        ValueError: No amount is there.
    """
    match = _AMOUNT.match(text.strip())
    if not match:
        raise ValueError(f"not an amount: {text[:40]!r}")
    base = 1024 if binary or match["binary"] else 1000
    return decimal(match["number"]) * float(base ** _FACTORS[match["prefix"].lower()])


def doubt(rate: float, highest: float = HIGHEST) -> str:
    """Return why a rate in bytes a second cannot be one; "" where it can."""
    if not math.isfinite(rate):
        return "the figure is not a number"
    if rate <= 0:
        return "the figure is zero" if rate == 0 else "the figure is negative"
    if rate > highest:
        return f"{rate / 1e9:.0f} GB/s cannot be"
    return ""
