"""An outlook in half a sentence, behind the consumer's name and a colon."""

from __future__ import annotations

from unmask.model.outlook import Outlook, Status


def sentence(outlook: Outlook) -> str:
    """Return "has what it needs", or what is missing, what it runs on and the speed left."""
    if outlook.status is Status.HARDWARE:
        return "has what it needs"
    left = f" ({percent(outlook.factor)} of the speed)" if outlook.factor is not None else ""
    lacks = f"lacks {', '.join(outlook.missing)}: " if outlook.missing else ""
    return f"{lacks}{outlook.how}{left}"


def percent(factor: float) -> str:
    """Return a factor of 0 to 1 as people write it: "10 %", "4 %", "0.7 %"."""
    share = factor * 100
    return f"{share:.0f} %" if share >= 1 else f"{share:.1f} %"
