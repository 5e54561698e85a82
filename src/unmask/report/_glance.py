"""The table that answers at a glance: one line a guest, fitted to the terminal."""

from __future__ import annotations

from collections import defaultdict

from unmask.model.finding import Severity
from unmask.model.report import Document
from unmask.report import _cells, _findings
from unmask.report._grid import Layout, Table, draw, fit, same, without
from unmask.report._paint import Paint
from unmask.report._text import wrap

HEADINGS = (
    "SITE",
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
LAYOUT = Layout(
    shrinkable={"GUEST": 14, "EFFECTIVE": 20, "CONFIGURED": 20, "NODE": 6, "SITE": 8},
    droppable=("STATE", "NODE", "LEVEL"),
)
NARROW_LAYOUT = Layout(
    shrinkable={"GUEST": 20, "CPU": 22, "NODE": 6, "SITE": 8}, droppable=LAYOUT.droppable
)
NARROW = 100
"""Columns below which what is configured has no column of its own: guests' names need the room."""
CPUS = ("CONFIGURED", "EFFECTIVE")
OTHER = " (not "
"""Comes between the CPU that a guest sees and the one that is configured, where they differ."""
MARKS = (("(t) ", "template", "a template"), ("(ct) ", "ct ", "a container"))
"""What begins a guest's name where STATE is left out, how STATE begins, and what it means."""


def glance(document: Document, width: int, paint: Paint) -> list[str]:
    """Return the table's lines, and below it what its signs mean; nothing without guests."""
    if not document.cases:
        return []
    whole = cells(document)
    narrow = 0 < width < NARROW
    table = (
        _fitted(_one_cpu(whole), width, NARROW_LAYOUT) if narrow else _fitted(whole, width, LAYOUT)
    )
    lines = draw(table, lambda heading, cell: _painted(heading, cell, paint))
    return [*lines, *_legend(table, whole, width)]


def cells(document: Document) -> Table:
    """Return the whole table, unfitted."""
    findings = defaultdict(list)
    for finding in document.outcome.findings:
        findings[finding.subject].append(finding)
    rows = [
        (
            _cells.site(case),
            _cells.guest(case),
            _cells.node(case),
            _cells.state(case),
            _cells.configured(case),
            _cells.effective(case),
            _cells.flag(case, _cells.AES),
            _cells.flag(case, _cells.CLMUL),
            _cells.level(case),
            _cells.worst(_findings.worst_first(findings[case.guest.subject])),
        )
        for case in document.cases
    ]
    table = {heading: [row[index] for row in rows] for index, heading in enumerate(HEADINGS)}
    if len(set(table["SITE"])) == 1:
        table = without(table, "SITE")
    # Guests whose hypervisor is out of reach are on no node.
    return table if any(table["NODE"]) else without(table, "NODE")


def _fitted(whole: Table, width: int, layout: Layout) -> Table:
    table = fit(whole, width, layout)
    return table if "STATE" in table else fit(_marked(whole), width, layout)


def _one_cpu(table: Table) -> Table:
    """Say in one column what a guest sees, and what is configured where that is another CPU."""
    pairs = zip(table["CONFIGURED"], table["EFFECTIVE"], strict=True)
    seen = [_seen(configured, effective) for configured, effective in pairs]
    renamed = {"CPU" if name == "EFFECTIVE" else name: table[name] for name in table}
    return {**without(renamed, "CONFIGURED"), "CPU": seen}


def _seen(configured: str, effective: str) -> str:
    ours = configured.split(" > ", 1)
    sees = effective.split(" > ", 1)
    same_name = [one.rstrip(_cells.DEFAULT).split(",")[0] for one in ours] == sees
    return configured if same_name else f"{effective}{OTHER}{configured})"


def _marked(table: Table) -> Table:
    """Move what only the column STATE tells to the guests' names."""
    rest = without(table, "STATE")
    pairs = zip(table["STATE"], table["GUEST"], strict=True)
    return {**rest, "GUEST": [_mark(state) + name for state, name in pairs]}


def _mark(state: str) -> str:
    return next((mark for mark, word, _ in MARKS if state.startswith(word)), "")


def _painted(heading: str, cell: str, paint: Paint) -> str:
    if heading in ("AES", "CLMUL"):
        return paint.cell(cell)
    if heading == "WORST FINDING" and cell != "-":
        return paint.severity(cell, Severity[cell.split(" ", maxsplit=1)[0].upper()])
    return cell


def _legend(table: Table, whole: Table, width: int) -> list[str]:
    """Return one paragraph that explains the signs in the table and the columns that are not."""
    said = [*_signs(table), *_marks(table)]
    gone = [name for name in whole if name not in table and not (name in CPUS and "CPU" in table)]
    said += [f"{name.lower()}: {whole[name][0]}" for name in gone if same(whole[name])]
    narrow = [name.lower() for name in gone if not same(whole[name])]
    if narrow:
        said.append(f"left out for want of width: {', '.join(narrow)}")
    return ["", *wrap("; ".join(said) + ".", width)] if said else []


def _signs(table: Table) -> list[str]:
    said = []
    words = {word for name in ("AES", "CLMUL") for cell in table[name] for word in cell.split()}
    cpus = [cell for name in ("CONFIGURED", "CPU") for cell in table.get(name, ())]
    if any(_cells.DEFAULT in cell for cell in cpus):
        said.append(f"{_cells.DEFAULT} the default, for want of a valid configuration")
    if "host" in words:
        said.append("host: depends on a host whose flags are not known")
    if "?" in words:
        said.append("?: not known")
    if "no" in words:
        said.append("CLMUL: PCLMULQDQ (AES-GCM is fast only with it and AES)")
    if any(OTHER in cell for cell in table.get("CPU", ())):
        said.append("(not x): x is what is configured")
    columns = (*CPUS, "CPU", "AES", "CLMUL")
    if any(" > " in cell for name in columns for cell in table.get(name, ())):
        said.append("a > b: a now, b after a stop and start")
    if any("unknown" in cell for cell in table.get("STATE", ())):
        said.append("state unknown: what was read does not tell whether the guest runs")
    return said


def _marks(table: Table) -> list[str]:
    if "STATE" in table:
        return []
    return [
        f"{mark}{meaning}"
        for mark, _, meaning in MARKS
        if any(name.startswith(mark) for name in table["GUEST"])
    ]
