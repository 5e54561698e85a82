"""What is encrypted in the guests and how their CPUs serve it: one line a workload."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from unmask.crypto.sentence import percent
from unmask.model.case import GuestCase
from unmask.model.finding import Confidence
from unmask.model.outlook import Status
from unmask.model.report import Document
from unmask.model.workload import NOT_AFFECTED, Activity, JudgedWorkload
from unmask.report import _cells
from unmask.report._detail import HOW, Detail
from unmask.report._grid import Layout, Table, draw, fit, without
from unmask.report._paint import Paint
from unmask.report._text import clean, wrap

HEADINGS = ("SITE", "GUEST", "WORKLOAD", "CIPHER", "DETAIL", "STATUS", "KEEPS", "MISSING")
LAYOUT = Layout(
    shrinkable={
        "GUEST": 16, "DETAIL": 16, "WORKLOAD": 20, "CIPHER": 16, "MISSING": 19, "SITE": 8,
    },
    droppable=("DETAIL", "CIPHER"),
)  # fmt: skip
DOUBT = "?"
"""Behind a status that rests on a guess."""
WORDS = (
    Status.SOFTWARE.value, Status.PARTIAL.value, Status.UNKNOWN.value, Status.HARDWARE.value,
    NOT_AFFECTED,
)  # fmt: skip
"""Each status, the worst first."""
_NAME = 60
_ACTIVITY = {Activity.CLOSED: " (closed)", Activity.DECLARED: ""}


@dataclass(frozen=True, slots=True)
class Row:
    """One workload with its guest."""

    case: GuestCase
    item: JudgedWorkload

    @property
    def badness(self) -> tuple[int, float]:
        """Return what sorts the worst workload first."""
        return badness(self.item)


def badness(item: JudgedWorkload) -> tuple[int, float]:
    """Return what sorts the worst workload first: its status, then the speed that is left."""
    factor = item.outlook.factor if item.outlook else None
    return WORDS.index(item.status), 1.0 if factor is None else factor


def section(document: Document, width: int, paint: Paint, detail: Detail) -> list[str]:
    """Return the lines, an empty one first; none where no workload was found."""
    rows = [Row(case, item) for case in document.cases for item in case.workloads]
    if not rows:
        return []
    shown = _shown(rows, detail.workloads)
    whole = cells(shown)
    table = fit(whole, width, LAYOUT)
    lines = draw(table, lambda heading, cell: paint.cell(cell) if heading == "STATUS" else cell)
    legend = list(_legend(shown, table))
    gone = [name.lower() for name in whole if name not in table]
    legend += [f"left out for want of width: {', '.join(gone)}"] if gone else []
    if len(shown) < len(rows):
        left = len(rows) - len(shown)
        legend.append(f"{left} more workloads fare no worse: {HOW}")
    said = ["", *wrap("; ".join(legend) + ".", width)] if legend else []
    return ["", paint.heading("Encrypted workloads"), *lines, *said]


def counted(cases: Iterable[GuestCase]) -> str:
    """Return "4 encrypted workloads: 1 software, 3 hardware"; "" for none."""
    statuses = Counter(item.status for case in cases for item in case.workloads)
    if not statuses:
        return ""
    count = statuses.total()
    each = ", ".join(f"{statuses[word]} {word}" for word in WORDS if statuses[word])
    return f"{count} encrypted {'workload' if count == 1 else 'workloads'}: {each}"


def blind(cases: Iterable[GuestCase]) -> int:
    """Return how many guests nobody was inside, and neither disks nor notes tell anything of."""
    return sum(not (case.workloads or case.guest.visit.inside.known) for case in cases)


def unseen(cases: Sequence[GuestCase]) -> str:
    """Return "what 2 of the guests encrypt is not known"; "" for none."""
    count = blind(cases)
    if not count:
        return ""
    if count == len(cases):
        return f"what the {'guest encrypts' if count == 1 else 'guests encrypt'} is not known"
    return f"what {count} of the guests {'encrypts' if count == 1 else 'encrypt'} is not known"


def cells(rows: Sequence[Row]) -> Table:
    """Return the whole table, unfitted."""
    lines = [
        (
            _cells.site(row.case),
            _cells.guest(row.case),
            _workload(row.item),
            _cipher(row.item),
            clean(row.item.workload.detail, _NAME) or "-",
            _status(row.item),
            _keeps(row.item),
            clean(", ".join(row.item.outlook.missing if row.item.outlook else ()), _NAME) or "-",
        )
        for row in rows
    ]
    table = {heading: [line[index] for line in lines] for index, heading in enumerate(HEADINGS)}
    return table if len(set(table["SITE"])) > 1 else without(table, "SITE")


def _shown(rows: Sequence[Row], most: int) -> list[Row]:
    """Return the worst rows, in the order in which they came."""
    if len(rows) <= most:
        return list(rows)
    order = sorted(range(len(rows)), key=lambda index: (rows[index].badness, index))
    return [rows[index] for index in sorted(order[:most])]


def _workload(item: JudgedWorkload) -> str:
    kind, name = str(item.workload.kind), clean(item.workload.name, _NAME)
    if name.startswith("/"):  # of a path the end tells most
        name = "/".join(name.split("/")[-2:])
    whole = kind if name.lower() == kind else f"{kind} {name}".strip()
    return whole + _ACTIVITY.get(item.workload.activity, "")


def _cipher(item: JudgedWorkload) -> str:
    judged = item.outlook.cipher if item.outlook else ""
    return clean(item.workload.cipher or judged, _NAME) or "-"


def _status(item: JudgedWorkload) -> str:
    doubt = item.workload.confidence is Confidence.TENTATIVE and item.status in WORDS[:2]
    return f"{item.status}{DOUBT}" if doubt else item.status


def _keeps(item: JudgedWorkload) -> str:
    factor = item.outlook.factor if item.outlook else None
    return "-" if factor is None else percent(factor)


def _legend(rows: Sequence[Row], table: Table) -> Iterator[str]:
    """Yield what the signs and words mean that the table shows."""
    if any(row.item.outlook and row.item.outlook.missing for row in rows):
        yield "keeps: the part of the speed that is left without the missing flags, as measured"
    if any(cell.endswith(DOUBT) for cell in table["STATUS"]):
        yield f"{DOUBT} tentative: what was seen leaves room for doubt"
    if any(row.item.status == Status.UNKNOWN for row in rows):
        yield "unknown: the software or the CPU is not known well enough"
    if any(row.item.status == NOT_AFFECTED for row in rows):
        yield "not-affected: no flag that a CPU model hides plays a part"
