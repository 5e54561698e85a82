"""The journal of changes: whether `unmask fix` can keep it, and what earlier runs have left."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from unmask.checks._check import Check, Surroundings, ok, problem
from unmask.errors import UnmaskError
from unmask.fixes import _state, recover
from unmask.fixes.journal import Journal
from unmask.model.checkup import Remark

NAME = "journal"


def run(around: Surroundings) -> Iterator[Remark]:
    """Yield remarks on the directory and on the runs in it. Nothing is made or written."""
    another = "set XDG_STATE_HOME to a directory that you can write to"
    try:
        folder = _state.folder(around.environment)
        if folder.is_dir():
            _state.check(folder)
    except (UnmaskError, OSError) as error:
        yield problem(NAME, _words(error), another)
        return
    place = folder if folder.is_dir() else _nearest(folder)
    if not place.is_dir() or not os.access(place, os.W_OK | os.X_OK):
        what = f"{folder} cannot be written ({place}), so unmask fix changes nothing"
        yield problem(NAME, what, another)
        return
    if place != folder:
        yield ok(NAME, f"{folder} is not there yet; unmask fix makes it")
        return
    yield from _runs(Journal(folder))


def _runs(book: Journal) -> Iterator[Remark]:
    try:
        runs = len(book.idents())
        recover.refuse_unsettled(book)
    except recover.UnsettledError:
        guests = len(recover.unsettled(book))
        counted = "one guest" if guests == 1 else f"{guests} guests"
        what = f"an earlier run ended before it was known what became of {counted}"
        yield problem(NAME, what, "run `unmask recover`, which looks; unmask history has the run")
        return
    except UnmaskError as error:
        yield problem(NAME, str(error), "unmask history lists what can be read")
        return
    if not runs:
        yield ok(NAME, f"{book.folder}, no run so far")
    else:
        yield ok(NAME, f"{book.folder}, {runs} run{'s' if runs > 1 else ''}, all settled")


def _nearest(path: Path) -> Path:
    """Return the first directory above a path that is there."""
    return next((item for item in path.parents if item.exists()), Path("/"))


def _words(error: Exception) -> str:
    return error.strerror or "it cannot be read" if isinstance(error, OSError) else str(error)


CHECK = Check(50, "Journal of changes", run)
