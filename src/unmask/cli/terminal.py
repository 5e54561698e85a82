"""Standard output and standard error as the commands use them."""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TextIO

from unmask.errors import UsageError
from unmask.report._text import clean, shorten

PLAIN_WIDTH = 120
"""Columns of a report that goes to a file or a pipe."""
MOMENT = 0.5
"""Seconds for which nobody needs to be told what is going on."""
BROKEN_PIPE = 141
"""What a process ends with, as shells see it, when its reader has gone (128 + SIGPIPE)."""


def say(text: str) -> None:
    """Print one line about the run to standard error, with whatever could harm taken out.

    Where it is closed or full the line is lost: there is no other place to say so.
    """
    if sys.stderr is None:  # closed; print would take standard output instead
        return
    try:
        print(f"unmask: {clean(text)}", file=sys.stderr)  # noqa: T201 - this is the place
    except OSError:
        abandon(sys.stderr)


def watched() -> bool:
    """Return whether standard error is a terminal, where somebody may wait for a word."""
    return sys.stderr is not None and sys.stderr.isatty()


def progress(text: str) -> None:
    """Show how far something is in one line of a terminal; "" takes it away again.

    With blanks and no escape sequence, which a terminal may not know. Where standard error is
    closed, or its terminal has gone, nobody is there to be told.
    """
    try:
        if sys.stderr is not None and watched():
            # A terminal that has not been told its size says 0.
            room = max((os.get_terminal_size(sys.stderr.fileno()).columns or 80) - 1, 8)
            sys.stderr.write(f"\r{shorten(clean(text), room):<{room}}" + "\r" * (not text))
            sys.stderr.flush()
    except OSError:
        abandon(sys.stderr)


@contextmanager
def working(text: str) -> Iterator[None]:
    """Show what is being done, and for how long, once it takes more than a moment.

    For work that says nothing of itself and asks nobody anything; where standard error is no
    terminal nothing is shown.
    """
    if not watched():
        yield
        return
    over, began = threading.Event(), time.monotonic()

    def tick() -> None:
        while not over.wait(MOMENT):
            progress(f"{text} ({time.monotonic() - began:.0f} s)")

    ticking = threading.Thread(target=tick, name="unmask-progress", daemon=True)
    ticking.start()
    try:
        yield
    finally:
        over.set()
        ticking.join()
        progress("")


def put(text: str) -> None:
    """Print to standard output; a reader that has gone ends the process quietly.

    Raises:
        SystemExit: The reader has gone.
        UsageError: Standard output is closed, or what it leads to is full.
    """
    if sys.stdout is None:
        raise UsageError("standard output is closed: use --output FILE, or open it")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        abandon(sys.stdout)
        raise SystemExit(BROKEN_PIPE) from None
    except OSError as error:
        abandon(sys.stdout)
        raise UsageError(f"standard output: cannot be written: {error.strerror}") from error


def abandon(stream: TextIO | None) -> None:
    """See to it that what is left in the buffer is not tried again when Python shuts down.

    It would fail again, and make the exit code 120. None is a stream that is closed.
    """
    if stream is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def width(environment: Mapping[str, str]) -> int:
    """Return the columns there are: the terminal's, else COLUMNS, else a wide page's."""
    if _is_terminal() or environment.get("COLUMNS", "").isdigit():
        return shutil.get_terminal_size((80, 24)).columns
    return PLAIN_WIDTH


def _is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def colours(environment: Mapping[str, str]) -> bool:
    """Return whether to colour: a terminal that can, and NO_COLOR (no-color.org) not set."""
    return (
        _is_terminal()
        and not environment.get("NO_COLOR")
        and environment.get("TERM", "") not in ("", "dumb")
    )
