"""The table that answers at a glance: one line a guest, fitted to the terminal."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from tabulate import tabulate

from unmask.model.finding import Finding, Severity
from unmask.model.report import Document
from unmask.report import _cells
from unmask.report._paint import Paint
from unmask.report._text import shorten, wrap

HEADINGS = (
    "GUEST",
    "NODE",
    "STATE",
    "CONFIGURED",
    "EFFECTIVE",
    "AES",
    "CLMUL",
    "LEVEL",
    "WORST FINDING",
)
GAP = 2
"""Columns between two columns of the table."""
SHRINKABLE = {"GUEST": 14, "EFFECTIVE": 12, "CONFIGURED": 12, "NODE": 6}
"""Columns that may be shortened, and to how many characters."""
DROPPABLE = ("STATE", "NODE", "LEVEL")
"""Columns that may be left out, the first one first."""

Table = dict[str, list[str]]
"""Cells by heading; every list is as long as there are guests."""


def glance(document: Document, width: int, paint: Paint) -> list[str]:
    """Return the table's lines, and below it what its signs mean; nothing without guests."""
    if not document.cases:
        return []
    whole = cells(document)
    table = fit(whole, width)
    columns = [
        (heading, "-" * _column(heading, column), *(_painted(heading, c, paint) for c in column))
        for heading, column in table.items()
    ]
    # As rows: tabulate would pad its own headers by two columns that we do not have.
    rows = zip(*columns, strict=True)
    text = tabulate(rows, tablefmt="plain", disable_numparse=True, stralign="left")
    return [*(line.rstrip() for line in text.splitlines()), *_legend(table, whole, width)]


def cells(document: Document) -> Table:
    """Return the whole table, unfitted."""
    findings = by_subject(document.outcome.findings)
    rows = [
        (
            _cells.guest(case),
            _cells.node(case),
            _cells.state(case),
            _cells.configured(case),
            _cells.effective(case),
            _cells.flag(case, _cells.AES),
            _cells.flag(case, _cells.CLMUL),
            _cells.level(case),
            _cells.worst(findings.get(case.guest.subject, ())),
        )
        for case in document.cases
    ]
    return {heading: [row[index] for row in rows] for index, heading in enumerate(HEADINGS)}


def fit(table: Table, width: int) -> Table:
    """Return a table no wider than `width` columns (0: any), if that can be.

    A column that says the same for every guest goes first, then long cells are shortened, then
    the less telling columns go.
    """
    if not width:
        return table
    for heading in DROPPABLE:
        if _width(table) > width and _same(table[heading]):
            table = _without(table, heading)
    for heading in DROPPABLE:
        if _width(_shrunk(table, width)) > width:
            table = _without(table, heading)
    return _shrunk(table, width)


def by_subject(findings: Sequence[Finding]) -> dict[str, list[Finding]]:
    """Return findings by subject, each list in the given order."""
    grouped: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        grouped[finding.subject].append(finding)
    return grouped


def _same(column: Sequence[str]) -> bool:
    return len(column) > 1 and len(set(column)) == 1


def _without(table: Table, heading: str) -> Table:
    return {name: column for name, column in table.items() if name != heading}


def _column(heading: str, cells: Sequence[str]) -> int:
    return max(len(heading), *map(len, cells))


def _width(table: Table) -> int:
    return sum(_column(*item) for item in table.items()) + GAP * (len(table) - 1)


def _shrunk(table: Table, width: int) -> Table:
    """Shorten the widest shrinkable column by one until all fits or none can give any more."""
    widths = {heading: _column(heading, column) for heading, column in table.items()}
    for _ in range(_width(table) - width):
        can = [h for h, least in SHRINKABLE.items() if widths.get(h, 0) > max(least, len(h))]
        if not can:
            break
        widths[max(can, key=widths.__getitem__)] -= 1
    return {
        heading: [shorten(cell, widths[heading]) for cell in column]
        for heading, column in table.items()
    }


def _painted(heading: str, cell: str, paint: Paint) -> str:
    if heading in ("AES", "CLMUL"):
        return paint.cell(cell)
    if heading == "WORST FINDING" and cell != "-":
        return paint.severity(cell, Severity[cell.split(" ", maxsplit=1)[0].upper()])
    return cell


def _legend(table: Table, whole: Table, width: int) -> list[str]:
    """Return one paragraph that explains the signs in the table and the columns that are not."""
    said = []
    words = {word for name in ("AES", "CLMUL") for cell in table[name] for word in cell.split()}
    if any(_cells.DEFAULT in cell for cell in table["CONFIGURED"]):
        said.append(f"{_cells.DEFAULT} the default, for want of a valid configuration")
    if "host" in words:
        said.append("host: depends on a host whose flags are not known")
    if "?" in words:
        said.append("?: not known")
    columns = ("CONFIGURED", "EFFECTIVE", "AES", "CLMUL")
    if any(" > " in cell for name in columns for cell in table[name]):
        said.append("a > b: a now, b after a stop and start")
    gone = [name for name in whole if name not in table]
    said += [f"{name.lower()}: {whole[name][0]}" for name in gone if _same(whole[name])]
    narrow = [name.lower() for name in gone if not _same(whole[name])]
    if narrow:
        said.append(f"left out for want of width: {', '.join(narrow)}")
    return ["", *wrap("; ".join(said) + ".", width)] if said else []
