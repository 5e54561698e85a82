"""How much of a long report is shown on a terminal: what matters most, or all of it."""

from __future__ import annotations

from dataclasses import dataclass

from unmask.model.report import Document

MANY = 15
"""Findings from which a report does not show each of them with its evidence by itself: with its
remedies that would be more than a hundred lines, of which a newcomer reads the last screen."""
ALL = 10**6
HOW = "--full shows them"


@dataclass(frozen=True, slots=True)
class Detail:
    """How many of what are shown, and whether with all that is known of them."""

    evidence: bool
    """Each finding with its evidence and its remedy."""
    findings: int
    """Of one code."""
    workloads: int
    guests: int
    """Of those that have something to do."""
    reasons: int
    """Different ones, why something is not known."""
    names: int
    """Of those that one reason holds for."""
    letters: int
    """Of one reason."""


NORMAL = Detail(
    evidence=True, findings=6, workloads=40, guests=12, reasons=40, names=12, letters=2000
)
FULL = Detail(
    evidence=True, findings=ALL, workloads=ALL, guests=ALL, reasons=ALL, names=ALL, letters=2000
)
BRIEF = Detail(evidence=False, findings=3, workloads=20, guests=10, reasons=6, names=4, letters=300)


def of(document: Document) -> Detail:
    """Return how much of a document is shown where nobody says how much."""
    return BRIEF if len(document.outcome.findings) > MANY else NORMAL
