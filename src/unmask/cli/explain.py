"""`unmask explain CODE`: the page on a rule, or the list of all rules."""

from __future__ import annotations

from typing import Annotated

import typer

from unmask.cli import choices, completers
from unmask.cli.terminal import put
from unmask.engine import explain


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
    put(_list() if code is None else explain.page(code))


def _list() -> str:
    return "".join(f"{rule.code}  {rule.title}\n" for rule in choices.rules(None, None))
