"""Tables that fit a terminal: long cells are shortened, less telling columns are left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tabulate import tabulate

from unmask.report._text import FILL, filled, shorten

GAP = 2
"""Columns between two columns of a table."""
LEAST = 8
"""Characters that a cell keeps however narrow the terminal is."""

Table = dict[str, list[str]]
"""Cells by heading; every list has one cell a row."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How a table gives way where the terminal is narrow."""

    shrinkable: Mapping[str, int]
    """Columns that may be shortened, and to how many characters."""
    droppable: tuple[str, ...]
    """Columns that may be left out, the first one first."""


def fit(table: Table, width: int, layout: Layout) -> Table:
    """Return a table no wider than `width` columns (0: any), if that can be.

    A column that says the same in every row goes first, then long cells are shortened, then the
    less telling columns go, and at last cells are shortened to what is hardly enough.
    """
    if not width:
        return table
    for heading in layout.droppable:
        if _width(table) > width and same(table.get(heading, [])):
            table = without(table, heading)
    for heading in layout.droppable:
        if heading in table and _width(_shrunk(table, width, layout.shrinkable)) > width:
            table = without(table, heading)
    table = _shrunk(table, width, layout.shrinkable)
    return _shrunk(table, width, dict.fromkeys(layout.shrinkable, LEAST))


def draw(table: Table, paint: Callable[[str, str], str]) -> list[str]:
    """Return the table's lines; `paint` is given heading and cell and adds colour or nothing."""
    columns = [
        (
            heading,
            "-" * _column(heading, column),
            *(filled(paint(heading, cell)) for cell in column),
        )
        for heading, column in table.items()
    ]
    # As rows: tabulate would pad its own headers by two columns that we do not have.
    rows = zip(*columns, strict=True)
    text = tabulate(rows, tablefmt="plain", disable_numparse=True, stralign="left")
    return [line.replace(FILL, "").rstrip() for line in text.splitlines()]


def same(column: Sequence[str]) -> bool:
    """Return whether several rows all say the same."""
    return len(column) > 1 and len(set(column)) == 1


def without(table: Table, heading: str) -> Table:
    """Return the table without one column."""
    return {name: column for name, column in table.items() if name != heading}


def _column(heading: str, cells: Sequence[str]) -> int:
    return max(len(heading), *(len(filled(cell)) for cell in cells))


def _width(table: Table) -> int:
    return sum(_column(*item) for item in table.items()) + GAP * (len(table) - 1)


def _shrunk(table: Table, width: int, shrinkable: Mapping[str, int]) -> Table:
    """Shorten the widest shrinkable column by one until all fits or none can give any more."""
    widths = {heading: _column(heading, column) for heading, column in table.items()}
    for _ in range(_width(table) - width):
        can = [
            heading
            for heading, least in shrinkable.items()
            if widths.get(heading, 0) > max(least, len(heading))
        ]
        if not can:
            break
        widths[max(can, key=widths.__getitem__)] -= 1
    return {
        heading: [_shortened(cell, widths[heading]) for cell in column]
        for heading, column in table.items()
    }


def _shortened(cell: str, width: int) -> str:
    """Return a cell of at most so many columns."""
    text = filled(cell)
    if text[width - 3 : width - 2] == FILL and len(text) > width:  # the cut halves a letter
        width -= 1
    return shorten(text, width).replace(FILL, "")
