"""The terminal: what reports look like on it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator

from unmask.checks._check import Check, Surroundings, note, ok
from unmask.model.checkup import Remark

NARROW = 80
"""Columns below which reports are hard to read."""


def run(around: Surroundings) -> Iterator[Remark]:
    """Yield remarks on width, encoding and colours."""
    stream = sys.stdout
    if stream is None or not stream.isatty():
        yield ok("output", "goes to no terminal: 120 columns, no colours (COLUMNS sets others)")
    else:
        columns = shutil.get_terminal_size((80, 24)).columns
        if columns < NARROW:
            what = f"{columns} columns: tables leave out columns"
            yield note("width", what, "make the window wider, or use --output FILE")
        else:
            yield ok("width", f"{columns} columns")
        yield ok("colours", _colours(around))
    encoding = (getattr(stream, "encoding", "") or "").lower().replace("_", "-")
    if encoding in ("utf-8", "utf8"):
        yield ok("encoding", "UTF-8")
    else:
        yield note(
            "encoding",
            f"{encoding or 'not known'}: names with other letters are written as escapes",
            "export LC_ALL=C.UTF-8",
        )


def _colours(around: Surroundings) -> str:
    if around.environment.get("NO_COLOR"):
        return "none, for NO_COLOR is set"
    if around.environment.get("TERM", "") in ("", "dumb"):
        return "none, for TERM names no terminal that has them"
    return "yes (NO_COLOR=1 switches them off)"


CHECK = Check(80, "Terminal", run)
