"""Standard output and standard error as the commands use them."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping

from unmask.report._text import clean

PLAIN_WIDTH = 120
"""Columns of a report that goes to a file or a pipe."""
BROKEN_PIPE = 141
"""What a process ends with, as shells see it, when its reader has gone (128 + SIGPIPE)."""


def say(text: str) -> None:
    """Print one line about the run to standard error, with whatever could harm taken out."""
    print(f"unmask: {clean(text)}", file=sys.stderr)  # noqa: T201 - this is the place


def put(text: str) -> None:
    """Print to standard output; a reader that has gone ends the process quietly.

    Raises:
        SystemExit: The reader has gone.
    """
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        # What is left in the buffer must not be tried again when Python shuts down.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(BROKEN_PIPE) from None


def width(environment: Mapping[str, str]) -> int:
    """Return the columns there are: the terminal's, else COLUMNS, else a wide page's."""
    if sys.stdout.isatty() or environment.get("COLUMNS", "").isdigit():
        return shutil.get_terminal_size((80, 24)).columns
    return PLAIN_WIDTH


def colours(environment: Mapping[str, str]) -> bool:
    """Return whether to colour: a terminal that can, and NO_COLOR (no-color.org) not set."""
    return (
        sys.stdout.isatty()
        and not environment.get("NO_COLOR")
        and environment.get("TERM", "") not in ("", "dumb")
    )
