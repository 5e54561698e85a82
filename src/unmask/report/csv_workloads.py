"""One line an encrypted workload, and one for each kind or guest that could not be looked into."""

from __future__ import annotations

from collections.abc import Iterator

from unmask.model.case import GuestCase
from unmask.model.reading import Missing
from unmask.model.report import Document, Format
from unmask.model.workload import JudgedWorkload
from unmask.report import _cells, _csv

COLUMNS = (
    "site", "subject", "ident", "name", "node", "workload", "workload_name", "status", "keeps",
    "of_best", "missing", "cipher", "consumer", "version", "detail", "driver", "activity",
    "confidence", "host_side", "ports", "evidence", "reason", "needs",
)  # fmt: skip
"""docs/formats.md says what each means. New ones come at the end only."""
NOT_READ = "not read"
"""The status of a kind of workload, or of a whole guest, that could not be looked into."""


def render(document: Document, width: int) -> str:  # noqa: ARG001 - lines are as long as they are
    """Return a heading and a line for each workload, guest by guest."""
    return _csv.text(COLUMNS, (row for case in document.cases for row in _rows(case)))


def _rows(case: GuestCase) -> Iterator[_csv.Row]:
    for item in case.workloads:
        yield {**_guest(case), **_workload(item)}
    for unread in case.unread:
        yield {**_guest(case), **_unread(str(unread.kind), unread.reason, unread.needs)}
    inside = case.guest.visit.inside
    if isinstance(inside, Missing):
        yield {**_guest(case), **_unread("", inside.reason, inside.needs)}


def _guest(case: GuestCase) -> _csv.Row:
    guest = case.guest
    return {
        **dict.fromkeys(COLUMNS, ""),
        "site": guest.site,
        "subject": guest.subject,
        "ident": guest.ident,
        "name": guest.name,
        "node": _cells.node(case),
    }


def _workload(item: JudgedWorkload) -> _csv.Row:
    workload, outlook = item.workload, item.outlook
    return {
        "workload": str(workload.kind),
        "workload_name": workload.name,
        "status": item.status,
        "keeps": _share(outlook.factor if outlook else None),
        "of_best": _share(outlook.of_best if outlook else None),
        "missing": " ".join(outlook.missing) if outlook else "",
        "cipher": workload.cipher or (outlook.cipher if outlook else ""),
        "consumer": workload.consumer,
        "version": workload.version,
        "detail": workload.detail,
        "driver": workload.driver,
        "activity": str(workload.activity),
        "confidence": str(workload.confidence),
        "host_side": workload.host_side,
        "ports": " ".join(str(port) for port in workload.ports),
        "evidence": workload.evidence,
    }


def _share(value: float | None) -> str:
    """Return a share of 1 with four digits behind the point."""
    return "" if value is None else f"{value:.4f}"


def _unread(kind: str, reason: str, needs: str) -> _csv.Row:
    return {"workload": kind, "status": NOT_READ, "reason": reason, "needs": needs}


FORMAT = Format(
    name="csv-workloads",
    summary="for spreadsheets: one line an encrypted workload",
    render=render,
)
