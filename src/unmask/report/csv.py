"""One line a guest, for a spreadsheet or a script."""

from __future__ import annotations

from collections import Counter, defaultdict

from unmask.model.case import GuestCase
from unmask.model.cpu import FeatureView, State
from unmask.model.finding import Finding
from unmask.model.outlook import Status
from unmask.model.report import Document, Format
from unmask.report import _cells, _csv, _findings, _records
from unmask.report._actions import Action, actions

COLUMNS = (
    "site", "subject", "ident", "name", "platform", "cluster", "node", "kind", "state", "template",
    "arch", "os", "accelerator",
    "configured", "effective", "level", "aes", "clmul",
    "pending", "effective_after_restart", "level_after_restart", "aes_after_restart",
    "clmul_after_restart",
    "looked_inside", "workloads", "software", "partial", "unknown",
    "severity", "findings", "codes", "accepted", "not_checked", "not_read",
    "action", "command",
)  # fmt: skip
"""docs/formats.md says what each means. New ones come at the end only."""
WORDS = {
    State.SHOWN: "yes",
    State.HIDDEN: "no",
    State.HOST: "depends on host",
    State.UNKNOWN: "unknown",
}


def render(document: Document, width: int) -> str:  # noqa: ARG001 - lines are as long as they are
    """Return a heading and a line for each guest, in the order of the inventory."""
    told = _Told(document)
    return _csv.text(COLUMNS, (_row(case, told) for case in document.cases))


class _Told:
    """What a document says of its guests, by their subjects."""

    def __init__(self, document: Document) -> None:
        outcome = document.outcome
        self.findings: dict[str, list[Finding]] = defaultdict(list)
        for finding in outcome.findings:
            self.findings[finding.subject].append(finding)
        self.accepted = Counter(item.finding.subject for item in outcome.accepted)
        self.skips = Counter(skip.subject for skip in outcome.skips)
        self.gaps = defaultdict[str, list[str]](list)
        for gap in document.inventory.gaps:
            self.gaps[gap.subject].append(gap.reason)
        self.actions: dict[str, Action] = {item.subject: item for item in actions(document)}


def _row(case: GuestCase, told: _Told) -> _csv.Row:
    guest = case.guest
    return {
        "site": guest.site,
        "subject": guest.subject,
        "ident": guest.ident,
        "name": guest.name,
        "platform": str(guest.platform),
        "cluster": case.cluster.name if case.cluster else "",
        "node": _cells.node(case),
        "kind": str(guest.kind),
        "state": str(guest.state),
        "template": guest.template,
        "arch": guest.arch,
        "os": guest.os_declared,
        "accelerator": str(case.view.accelerator),
        "configured": guest.configured.brief,
        "effective": case.view.label,
        "level": _level(_cells.leveled(case)),
        "aes": _now(case, _cells.AES),
        "clmul": _now(case, _cells.CLMUL),
        "pending": guest.pending.brief if guest.pending else "",
        **_later(case.pending),
        **_workloads(case),
        **_judged(guest.subject, told),
    }


def _later(view: FeatureView | None) -> _csv.Row:
    """Return what a guest will see after a stop and start; nothing where no change is pending."""
    names = ("effective", "level", "aes", "clmul")
    told = (
        (view.label, _level(view), _flag(view, _cells.AES), _flag(view, _cells.CLMUL))
        if view
        else ("",) * len(names)
    )
    return {f"{name}_after_restart": text for name, text in zip(names, told, strict=True)}


def _level(view: FeatureView) -> str:
    """Return the level, with a "+" where it may be higher; "" where none is known."""
    word = _records.level(view) or ""
    return word if view.level_certain or not word else f"{word}+"


def _now(case: GuestCase, flags: dict[str, str]) -> str:
    name = flags.get(_cells.arch(case))
    return _absent(_cells.arch(case)) if name is None else WORDS[_cells.seen(case, name)]


def _flag(view: FeatureView, flags: dict[str, str]) -> str:
    name = flags.get(view.arch)
    return _absent(view.arch) if name is None else WORDS[view.state(name)]


def _absent(arch: str) -> str:
    return "none" if arch else WORDS[State.UNKNOWN]


def _workloads(case: GuestCase) -> _csv.Row:
    """Return how many there are; nothing, rather than none, where nobody has looked."""
    inside = case.guest.visit.inside.known
    if not (inside or case.workloads or case.unread):
        names = ("workloads", "software", "partial", "unknown")
        return {"looked_inside": inside, **dict.fromkeys(names, "")}
    counts = Counter(item.status for item in case.workloads)
    return {
        "looked_inside": inside,
        "workloads": counts.total(),
        "software": counts[Status.SOFTWARE.value],
        "partial": counts[Status.PARTIAL.value],
        "unknown": counts[Status.UNKNOWN.value] + len(case.unread),
    }


def _judged(subject: str, told: _Told) -> _csv.Row:
    found = _findings.worst_first(told.findings[subject])
    action = told.actions.get(subject)
    return {
        "severity": found[0].problem.severity.word if found else "",
        "findings": len(found),
        "codes": " ".join(dict.fromkeys(finding.code for finding in found)),
        "accepted": told.accepted[subject],
        "not_checked": told.skips[subject],
        "not_read": list(dict.fromkeys(told.gaps[subject])),
        "action": action.what if action else "",
        "command": action.command if action else "",
    }


FORMAT = Format(name="csv", summary="for spreadsheets: one line a guest", render=render)
