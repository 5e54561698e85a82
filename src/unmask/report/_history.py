"""What was changed, for people and for programs: all runs, one run, and what became of guests."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from unmask.dialects.libvirt.cpu_words import brief
from unmask.model.change import Phase, Place, Setting
from unmask.model.run import Acknowledgement, Event, GuestRun, Run, Verdict, undone_by
from unmask.report._grid import Layout, draw, fit
from unmask.report._paint import Paint
from unmask.report._text import clean, wrap

SCHEMA = "unmask.history/1"
LAYOUT = Layout(
    shrinkable={"BEFORE": 14, "AFTER": 14, "BY": 8, "GUEST": 12, "STATE": 24},
    droppable=("BY", "WHAT"),
)
CELL = 60
DOING = {
    Phase.WRITING: "writing",
    Phase.STOPPING: "shutting down",
    Phase.STARTING: "starting",
    Phase.VERIFYING: "looking into it",
    Phase.UNDOING: "taking it back",
}
"""What is being done to a guest in the phases that take time."""
STATES = {
    Phase.PLANNED: "not begun",
    Phase.ACKNOWLEDGED: "not begun",
    Phase.WRITTEN: "written",
    Phase.DONE: "done",
    Phase.UNDONE: "taken back at once",
    Phase.REFUSED: "nothing written",
    Phase.FAILED: "failed",
}


def named(place: Place) -> str:
    """Return how a guest is called: "lab/101 (web)"."""
    return clean(f"{place.subject} ({place.name})" if place.name else place.subject, CELL)


def table(runs: Sequence[Run], width: int) -> str:
    """Return one line a guest and run, the latest run first."""
    if not runs:
        return "No guest has been changed from this account on this machine.\n"
    rows = [_row(run, guest, runs) for run in reversed(runs) for guest in run.guests or (None,)]
    headings = ("RUN", "WHAT", "GUEST", "BEFORE", "AFTER", "STATE", "BY")
    columns = {heading: [row[index] for row in rows] for index, heading in enumerate(headings)}
    lines = draw(fit(columns, width, LAYOUT), lambda _heading, cell: cell)
    return "\n".join([*lines, *_hint(runs, width)]) + "\n"


def _row(run: Run, guest: GuestRun | None, runs: Sequence[Run]) -> tuple[str, ...]:
    what, by = str(run.kind), clean(run.user, CELL)
    if guest is None:
        return (run.ident, what, "-", "-", "-", "nothing planned", by)
    return (
        run.ident,
        what,
        named(guest.place),
        setting(guest.before),
        setting(guest.after),
        state(run, guest, runs),
        by,
    )


def _hint(runs: Sequence[Run], width: int) -> list[str]:
    count = sum(len(run.unsettled) for run in runs)
    if not count:
        return []
    return [
        "",
        *wrap(
            f"{count} not settled: a run ended before it was known what the guest has. Run "
            "`unmask recover`, which looks.",
            width,
        ),
    ]


def setting(value: Setting) -> str:
    """Return what a setting says, in one short line."""
    return "(not set)" if value.value is None else clean(brief(value.value), CELL)


def state(run: Run, guest: GuestRun, runs: Sequence[Run]) -> str:
    """Return what became of a guest, in a few words."""
    doing = DOING.get(guest.phase, STATES.get(guest.phase, str(guest.phase)))
    if run.live:
        return f"going on: {doing}"
    if not guest.settled:
        return f"NOT SETTLED: {doing}"
    if guest.last.verdict is Verdict.OTHER:
        return "neither old nor new"
    if guest.last.verdict is Verdict.GONE:
        return "said to be gone"
    taken_back = undone_by(run, guest, runs) if guest.new else ""
    return f"taken back by {taken_back}" if taken_back else doing


def page(run: Run, runs: Sequence[Run], width: int, paint: Paint) -> str:
    """Return all that the journal has of one run."""
    facts = [
        ("what", f"{run.kind} {run.undoes}".strip()),
        ("started", run.started),
        ("by", f"{run.user} on {run.host}, with unmask {run.version}"),
        ("reason", run.reason),
    ]
    lines = [paint.heading(run.ident), *_facts(facts, width)]
    for guest in run.guests:
        lines += ["", paint.heading(named(guest.place)), *_guest(run, guest, runs, width)]
    return "\n".join(lines) + "\n"


def _guest(run: Run, guest: GuestRun, runs: Sequence[Run], width: int) -> Iterator[str]:
    yield from _facts(
        [
            ("target", guest.place.target),
            ("asked", guest.wish),
            ("before", "(not set)" if guest.before.value is None else guest.before.value),
            ("after", "(not set)" if guest.after.value is None else guest.after.value),
            ("gained", " ".join(guest.gained)),
            ("lost", " ".join(guest.lost)),
            ("state", state(run, guest, runs)),
        ],
        width,
    )
    for taken in guest.acknowledgements:
        why = f" ({taken.reason})" if taken.reason else ""
        who = f"{taken.code} taken on by {taken.user} on {taken.host}, {taken.time}{why}: "
        yield from wrap(who + taken.text, width, "  ", "    ")
    for event in guest.events:
        detail = f": {event.detail}" if event.detail else ""
        looked = f" (found: {event.verdict})" if event.verdict else ""
        yield from wrap(f"{event.time} {event.phase}{looked}{detail}", width, "  ", "    ")


def _facts(facts: Sequence[tuple[str, str]], width: int) -> Iterator[str]:
    for name, text in facts:
        if text:
            yield from wrap(text, width, f"  {name:<9}")


def as_json(chosen: Sequence[Run], runs: Sequence[Run]) -> str:
    """Return all that the journals have of some of all runs, the latest first, as ASCII JSON."""
    body = {"schema": SCHEMA, "runs": [_run(run, runs) for run in reversed(chosen)]}
    return json.dumps(body, indent=2) + "\n"


def _run(run: Run, runs: Sequence[Run]) -> dict[str, Any]:
    return {
        "run_id": run.ident,
        "kind": run.kind,
        "started": run.started,
        "user": run.user,
        "host": run.host,
        "version": run.version,
        "reason": run.reason,
        "undoes": run.undoes,
        "live": run.live,
        "guests": [_guest_record(run, guest, runs) for guest in run.guests],
    }


def _guest_record(run: Run, guest: GuestRun, runs: Sequence[Run]) -> dict[str, Any]:
    return {
        **place(guest.place),
        "asked": guest.wish,
        "before": guest.before.value,
        "after": guest.after.value,
        "gained": list(guest.gained),
        "lost": list(guest.lost),
        "custom_model": guest.custom_model,
        "phase": guest.phase,
        "settled": guest.settled and not run.live,
        "verdict": guest.last.verdict,
        "undone_by": undone_by(run, guest, runs) if guest.new else "",
        "acknowledged": [_acknowledgement(item) for item in guest.acknowledgements],
        "events": [_event(item) for item in guest.events],
    }


def place(where: Place) -> dict[str, Any]:
    """Return a guest's place as all reports of changes have it."""
    return {
        "guest": where.subject,
        "id": where.ident,
        "name": where.name,
        "target": where.target,
        "platform": where.platform,
        "node": where.node,
    }


def _acknowledgement(item: Acknowledgement) -> dict[str, Any]:
    return {
        "code": item.code,
        "message": item.text,
        "user": item.user,
        "host": item.host,
        "time": item.time,
        "reason": item.reason,
    }


def _event(item: Event) -> dict[str, Any]:
    return {
        "time": item.time,
        "phase": item.phase,
        "detail": item.detail,
        "verdict": item.verdict,
        "found": item.found.value if item.found else None,
    }
