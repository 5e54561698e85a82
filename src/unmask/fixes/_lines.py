"""The lines of a journal: what is written of a run, and how it is read again.

Each line is one JSON object. The first tells what the run is; every other names a guest and a
phase. Of a guest's configuration only its CPU is kept, and a digest: the rest may hold passwords.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, replace
from typing import Any

from unmask.model.change import Phase, Place, Setting
from unmask.model.inventory import Platform
from unmask.model.run import Acknowledgement, Event, GuestRun, Run, RunKind, Verdict

FAMILY = "unmask.run/"
VERSION = 1
DETAIL = 2000
"""Characters of a reason that are kept."""


class LineError(ValueError):
    """A line is not what this version writes."""


class NewerError(LineError):
    """The journal was written by a later version."""


def head(run: Run, process: int) -> dict[str, Any]:
    """Return a journal's first line."""
    return {
        "schema": f"{FAMILY}{VERSION}",
        "run": run.ident,
        "kind": run.kind,
        "started": run.started,
        "user": run.user,
        "host": run.host,
        "process": process,
        "version": run.version,
        "reason": run.reason,
        "undoes": run.undoes,
    }


def planned(guest: GuestRun, time: str) -> dict[str, Any]:
    """Return the line that tells what is planned for a guest.

    Raises:
        ValueError: A bug: there is more in a setting than the CPU.
    """
    for setting in (guest.before, guest.after):
        _refuse_more_than_the_cpu(guest.place, setting)
    return {
        **_begin(guest.place, Event(time, Phase.PLANNED)),
        "place": asdict(guest.place),
        "wish": guest.wish,
        "before": asdict(guest.before),
        "after": asdict(guest.after),
        "gained": list(guest.gained),
        "lost": list(guest.lost),
        "custom_model": guest.custom_model,
    }


def acknowledged(guest: GuestRun, time: str) -> dict[str, Any]:
    """Return the line that tells who has taken on what."""
    return {
        **_begin(guest.place, Event(time, Phase.ACKNOWLEDGED)),
        "acknowledgements": [asdict(item) for item in guest.acknowledgements],
    }


def event(place: Place, what: Event) -> dict[str, Any]:
    """Return the line of anything else."""
    line = _begin(place, what)
    if what.detail:
        line["detail"] = what.detail[:DETAIL]
    if what.verdict:
        line["verdict"] = what.verdict
    if what.found:
        _refuse_more_than_the_cpu(place, what.found)
        line["found"] = asdict(what.found)
    return line


def encode(line: Mapping[str, Any]) -> bytes:
    """Return a line as it lies in the file."""
    return json.dumps(line, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"


def run_of(lines: Iterable[bytes]) -> Run:
    """Return what whole lines tell.

    Raises:
        NewerError: A later version has written them.
        LineError: One of them is damaged; the message says which and how.
    """
    run: Run | None = None
    guests: dict[str, GuestRun] = {}
    for number, raw in enumerate(lines, 1):
        try:
            line = json.loads(raw)
            if run is None:
                run = _run(line)
            else:
                guests[line["guest"]] = _guest(guests.get(line["guest"]), line)
        except NewerError:
            raise
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise LineError(f"line {number} is damaged ({type(error).__name__})") from error
    if run is None:
        raise LineError("it is empty")
    return replace(run, guests=tuple(guests.values()))


def _begin(place: Place, what: Event) -> dict[str, Any]:
    return {"time": what.time, "guest": place.subject, "phase": what.phase}


def _refuse_more_than_the_cpu(place: Place, setting: Setting) -> None:
    value = (setting.value or "").strip()
    whole = value.count("<cpu") == 1 and value.startswith("<cpu") and value.endswith(">")
    if value and place.platform is Platform.LIBVIRT and not whole:
        raise ValueError("only a <cpu> element may go into the journal")
    if place.platform is Platform.PROXMOX and "\n" in value:
        raise ValueError("only the value of `cpu` may go into the journal")


def _run(line: Mapping[str, Any]) -> Run:
    schema = _text(line["schema"])
    if not schema.startswith(FAMILY):
        raise ValueError(schema)
    if int(schema.removeprefix(FAMILY)) > VERSION:
        raise NewerError(f"a later version of unmask has written it ({schema})")
    return Run(
        ident=_text(line["run"]),
        kind=RunKind(line["kind"]),
        started=_text(line["started"]),
        user=_text(line["user"]),
        host=_text(line["host"]),
        version=_text(line["version"]),
        reason=_text(line["reason"]),
        undoes=_text(line["undoes"]),
    )


def _guest(known: GuestRun | None, line: Mapping[str, Any]) -> GuestRun:
    verdict, found = line.get("verdict"), line.get("found")
    what = Event(
        time=_text(line["time"]),
        phase=Phase(line["phase"]),
        detail=_text(line.get("detail", "")),
        verdict=Verdict(verdict) if verdict is not None else None,
        found=_setting(found) if found is not None else None,
    )
    if known is None:
        known = _first(line)
    given = line.get("acknowledgements")
    if given is not None:
        taken = tuple(Acknowledgement(**_texts(item)) for item in given)
        known = replace(known, acknowledgements=(*known.acknowledgements, *taken))
    return known.after_event(what)


def _first(line: Mapping[str, Any]) -> GuestRun:
    place = _texts(line["place"])
    return GuestRun(
        place=Place(**{**place, "platform": Platform(place["platform"])}),
        wish=_text(line["wish"]),
        before=_setting(line["before"]),
        after=_setting(line["after"]),
        gained=_each(line["gained"], _text),
        lost=_each(line["lost"], _text),
        custom_model=_text(line["custom_model"]),
    )


def _setting(found: Mapping[str, Any]) -> Setting:
    value = found["value"]
    read = value if value is None else _text(value)
    return Setting(read, _text(found["digest"]), _text(found.get("made", "")))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _texts(found: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _text(value) for key, value in found.items()}


def _each(found: object, read: Callable[[object], str]) -> tuple[str, ...]:
    if not isinstance(found, list):
        raise TypeError(found)
    return tuple(map(read, found))
