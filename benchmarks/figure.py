"""One measured figure beside its target."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure, and whether it meets its target."""

    what: str
    measured: str
    """With its unit; what it was measured from, where that helps to read it."""
    target: str
    """"" for a figure that is only told."""
    met: bool | None = None
    """None where there is no target, or nothing could be measured."""

    @property
    def verdict(self) -> str:
        """Return the word for `met`."""
        if self.met is None:
            return "" if not self.target else "not measured"
        return "met" if self.met else "MISSED"


def table(figures: list[Figure]) -> str:
    """Return the figures as aligned columns."""
    rows = [("figure", "measured", "target", "verdict")]
    rows += [(figure.what, figure.measured, figure.target, figure.verdict) for figure in figures]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = ("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
    return "\n".join(lines)
