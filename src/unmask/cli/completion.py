"""Shell completion for a shell that is named, so that it works in scripts and packages too."""

from __future__ import annotations

from enum import StrEnum

import typer
import typer.completion

from unmask.cli.terminal import put

PROGRAM = "unmask"
VARIABLE = "_UNMASK_COMPLETE"
"""The environment variable by which a shell asks for completions."""


class Shell(StrEnum):
    """A shell that completion is written for."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


def prepare() -> None:
    """Make typer able to answer a shell, which it does by itself only with its own options.

    Typer's own `--show-completion` guesses the shell that it runs in, and fails without one.
    """
    typer.completion.get_completion_inspect_parameters()


def show(shell: Shell | None) -> None:
    """Print the completion script and end."""
    if shell:
        script = typer.completion.get_completion_script(  # type: ignore[attr-defined]
            prog_name=PROGRAM, complete_var=VARIABLE, shell=shell.value
        )
        put(script + "\n")
        raise typer.Exit


def install_for(shell: Shell | None) -> None:
    """Install completion for the current user and end."""
    if shell:
        _, path = typer.completion.install(  # type: ignore[attr-defined]
            shell=shell.value, prog_name=PROGRAM, complete_var=VARIABLE
        )
        put(f"completion for {shell} is in {path}; it works in new shells\n")
        raise typer.Exit
