"""`unmask explain CODE`: the page on a rule."""

from __future__ import annotations

from typing import Annotated

import typer

from unmask.cli.terminal import put
from unmask.engine import explain


def codes(incomplete: str) -> list[str]:
    """Return the codes that begin so, for shell completion."""
    return [code for code in explain.codes() if code.startswith(incomplete.upper())]


def run(
    code: Annotated[
        str, typer.Argument(metavar="CODE", help="A rule's code.", autocompletion=codes)
    ],
) -> None:
    """Explain a finding: why it matters, how it is decided, what to do."""
    put(explain.page(code))
