"""`unmask history`: what was changed from here, by whom, and what became of it."""

from __future__ import annotations

import os
from enum import StrEnum
from typing import Annotated

import typer

from unmask.cli import changing, completers, terminal
from unmask.fixes.journal import JournalError
from unmask.model.run import Run
from unmask.report import _history
from unmask.report._paint import Paint


class HistoryFormat(StrEnum):
    """How runs are shown."""

    TABLE = "table"
    JSON = "json"


RUN = typer.Argument(
    metavar="RUN",
    help="A run, or the beginning of its id: show all that its journal has. Without one: all runs.",
    show_default=False,
    autocompletion=completers.runs,
)
FORMAT = typer.Option("--format", help="For people or for programs.")


def run(
    *,
    one: Annotated[str, RUN] = "",
    form: Annotated[HistoryFormat, FORMAT] = HistoryFormat.TABLE,
) -> None:
    """Show what was changed from here, and what became of it.

    That is: from this account on this machine.
    """
    book = changing.book()
    runs, unread = [], False
    for ident in book.idents():
        try:
            found = book.load(ident)
        except JournalError as error:
            terminal.say(str(error))
            unread = True
        else:
            runs += [found] if found else []
    chosen = _chosen(book.run(one), runs) if one else runs
    width = terminal.width(os.environ)
    if form is HistoryFormat.JSON:
        terminal.put(_history.as_json(chosen, runs))
    elif one:
        paint = Paint(terminal.colours(os.environ))
        terminal.put(_history.page(chosen[0], runs, width, paint))
    else:
        terminal.put(_history.table(runs, width))
    if unread:
        raise typer.Exit(JournalError.exit_code)


def _chosen(wanted: Run, runs: list[Run]) -> list[Run]:
    return [run for run in runs if run.ident == wanted.ident]
