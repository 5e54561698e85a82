"""`unmask models`: which flags the named CPU models have."""

from __future__ import annotations

import os
from enum import StrEnum
from typing import Annotated

import typer

from unmask.cli import completers, terminal
from unmask.report import _model_facts, _models
from unmask.report._paint import Paint


class ModelsFormat(StrEnum):
    """How models are shown."""

    TABLE = "table"
    JSON = "json"


NAMES = typer.Argument(
    metavar="NAME",
    help="Models to show in full, spelled exactly. Without one: a table of all.",
    show_default=False,
    autocompletion=completers.models,
)
VERSIONS = typer.Option("--versions", help="List every version of each model.")
FORMAT = typer.Option("--format", help="For people or for programs.")


def run(
    *,
    name: Annotated[list[str] | None, NAMES] = None,
    versions: Annotated[bool, VERSIONS] = False,
    form: Annotated[ModelsFormat, FORMAT] = ModelsFormat.TABLE,
) -> None:
    """Show which CPU flags the named CPU models have.

    A model is shown as a guest sees it under KVM on a host that has all of its flags.
    """
    width, paint = terminal.width(os.environ), Paint(terminal.colours(os.environ))
    if name:
        models = tuple(map(_model_facts.facts, name))
    else:
        models = _model_facts.listing(versions=versions)
    if form is ModelsFormat.JSON:
        terminal.put(_models.as_json(models))
    elif name:
        terminal.put("\n".join(_models.page(model, width, paint) for model in models))
    else:
        terminal.put(_models.table(models, width, paint))
