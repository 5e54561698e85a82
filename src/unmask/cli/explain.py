"""`unmask explain CODE`: the page on a rule, or the list of all rules."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from unmask.cli import choices, completers, terminal
from unmask.engine import explain
from unmask.report import _page
from unmask.report._text import wrap


def run(
    code: Annotated[
        str | None,
        typer.Argument(
            metavar="CODE",
            help="A rule's code. Without one: a list of all.",
            autocompletion=completers.codes,
            show_default=False,
        ),
    ] = None,
) -> None:
    """Explain a finding: why it matters, how it is decided, what to do."""
    width = terminal.width(os.environ)
    terminal.put(_list(width) if code is None else _page.fitted(explain.page(code), width))


def _list(width: int) -> str:
    lines = (wrap(rule.title, width, f"{rule.code}  ") for rule in choices.rules(None, None))
    return "".join(f"{line}\n" for group in lines for line in group)
