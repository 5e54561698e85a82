"""What `unmask doctor` has found, for people and for programs."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from typing import Any

from unmask.model.checkup import Checkup, Remark, Status
from unmask.report._paint import Paint
from unmask.report._text import clean, wrap

SCHEMA = "unmask.doctor/1"
"""Grows by new keys only; a key that changes or goes makes it /2."""
COLUMN = max(map(len, Status)) + 2
"""Columns of the status."""


def render(found: Checkup, width: int, paint: Paint) -> str:
    """Return the report, ending with a line break."""
    lines: list[str] = []
    for title, remarks in found.areas:
        lines.append(paint.heading(title))
        for item in remarks:
            lines += _remark(item, width, paint)
        lines.append("")
    return "\n".join([*lines, *wrap(_summary(found), width)]) + "\n"


def _remark(item: Remark, width: int, paint: Paint) -> Iterator[str]:
    indent = " " * (2 + COLUMN)
    first, *rest = _wrapped(f"{item.subject}: {item.what}", width, indent, f"{indent}  ")
    yield f"  {paint.status(item.status)}{' ' * (COLUMN - len(item.status))}{first.lstrip()}"
    yield from rest
    if item.todo:
        yield from _wrapped(item.todo, width, f"{indent}  -> ", f"{indent}     ")


def _wrapped(text: str, width: int, first: str, rest: str) -> list[str]:
    """Return lines in which no word is broken: a fingerprint or a command is to be copied."""
    return textwrap.wrap(
        clean(text),
        max(width, 40),
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _summary(found: Checkup) -> str:
    problems, notes = found.count(Status.PROBLEM), found.count(Status.NOTE)
    noted = f"; {notes} {'note' if notes == 1 else 'notes'}" if notes else ""
    if not problems:
        return f"No problem found{noted}."
    return f"{problems} {'problem' if problems == 1 else 'problems'}{noted}."


def as_json(found: Checkup) -> str:
    """Return the report as ASCII JSON, as docs/doctor.schema.json has it."""
    body = {
        "schema": SCHEMA,
        "version": found.version,
        "problems": found.count(Status.PROBLEM),
        "notes": found.count(Status.NOTE),
        "checks": [_record(title, item) for title, items in found.areas for item in items],
    }
    return json.dumps(body, indent=2) + "\n"


def _record(title: str, item: Remark) -> dict[str, Any]:
    return {
        "area": title,
        "status": item.status.value,
        "subject": clean(item.subject),
        "what": clean(item.what),
        "todo": clean(item.todo) or None,
    }
