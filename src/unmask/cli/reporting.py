"""Which reports a command line asks for, and writing them: all of them or none."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from unmask.cli import choices, files, terminal
from unmask.errors import UsageError
from unmask.model.report import Document, Format

FORMAT = typer.Option(
    "--format",
    metavar="NAME[=FILE]",
    help="table, json, html, markdown, csv, csv-findings, csv-workloads, sarif, junit, prometheus "
    "or ticket; may be given several times, with a file for each but one.",
    autocompletion=choices.formats,
)
TICKET = typer.Option(
    "--ticket", help="The same as --format ticket: a letter to the provider of a rented machine."
)
OUTPUT = typer.Option(
    "--output",
    "-o",
    metavar="FILE",
    help="Write the report to a file, whole or not at all; without --format its suffix tells the "
    "format.",
)
FULL = typer.Option(
    "--full", help="A table of everything: each finding with its evidence and its remedy."
)

DIGITS = 6
"""Of a number of columns; with more of them it is none."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """One report that is asked for."""

    form: Format
    path: Path | None = None
    """None for standard output."""


def wanted(
    named: Sequence[str], output: Path | None, *, ticket: bool = False, full: bool = False
) -> tuple[Wanted, ...]:
    """Return the reports that `--format`, `--output`, `--ticket` and `--full` ask for.

    Raises:
        UsageError: There is no such format, it is not told which report goes where, or one of the
            files is hopeless.
    """
    if ticket:
        others = [name for name in named if "=" not in name and name != "ticket"]
        if others and others != [choices.TABLE]:
            raise UsageError(f"--ticket and --format {others[0]} exclude each other")
        named = [*(name for name in named if "=" in name), "ticket"]
    named = [name.removesuffix("=-") for name in named]
    if output == files.STDOUT:
        output = None
        named = named if any("=" not in name for name in named) else [*named, choices.TABLE]
    bare = list(dict.fromkeys(name for name in named if "=" not in name))
    if len(bare) > 1:
        raise UsageError(
            f"--format {bare[0]} and --format {bare[1]} cannot both go to "
            f"{output or 'standard output'}: write --format {bare[1]}=FILE"
        )
    told = [_to_file(name) for name in named if "=" in name]
    if bare:
        told.insert(0, Wanted(choices.format_named(bare[0]), output))
    elif output:
        told.insert(0, Wanted(choices.format_for(output), output))
    elif not told:
        told.append(Wanted(choices.format_named(choices.TABLE)))
    files.check(item.path for item in told if item.path)
    return tuple(_in_full(item) for item in told) if full else tuple(told)


def _to_file(text: str) -> Wanted:
    name, _, path = text.partition("=")
    if not path:
        raise UsageError(f"--format {text}: the file is missing: write --format {name}=FILE")
    return Wanted(choices.format_named(name), Path(path))


def _in_full(item: Wanted) -> Wanted:
    from unmask.report import table  # noqa: PLC0415 - a format's module, as plug-ins are loaded

    return Wanted(table.FULL, item.path) if item.form is table.FORMAT else item


def moves(asked: Iterable[Wanted]) -> bool:
    """Return whether a report shows where guests can move."""
    return any(item.form.moves for item in asked)


def write(document: Document, asked: Sequence[Wanted]) -> None:
    """Write the files, all or none, and then what goes to standard output.

    Raises:
        UsageError: One cannot be written; then none is.
    """
    columns = _page()
    with terminal.working("making the report"):
        made = [(item.path, item.form.render(document, columns)) for item in asked if item.path]
        files.write_all(made)
        shown = [_shown(document, item.form) for item in asked if item.path is None]
    if made and terminal.watched():
        terminal.say(f"wrote {', '.join(str(path) for path, _ in made)}")
    for text in shown:
        terminal.put(text)


def _page() -> int:
    """Return the columns of a page in a file: those of COLUMNS, whatever terminal there is."""
    told = os.environ.get("COLUMNS", "")
    columns = int(told) if told.isascii() and told.isdigit() and len(told) <= DIGITS else 0
    return columns or terminal.PLAIN_WIDTH


def _shown(document: Document, form: Format) -> str:
    width = terminal.width(os.environ)
    if form.coloured and terminal.colours(os.environ):
        return form.coloured(document, width)
    return form.render(document, width)
