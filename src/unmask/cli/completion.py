"""Shell completion for a shell that is named, so that it works in scripts and packages too."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

import typer
import typer.completion

from unmask.cli.terminal import put
from unmask.errors import UsageError

PROGRAM = "unmask"
VARIABLE = "_UNMASK_COMPLETE"
"""The environment variable by which a shell asks for completions."""
ZSH_BEFORE = f"compdef _{PROGRAM}_completion {PROGRAM}"
ZSH_AFTER = f"""\
if [ "$funcstack[1]" = _{PROGRAM} ]; then
  _{PROGRAM}_completion "$@"
else
  {ZSH_BEFORE}
fi"""
"""zsh runs a file of its fpath as the function itself: without this the first TAB does nothing."""


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


def script(shell: Shell) -> str:
    """Return the completion script of a shell, ending with a line break."""
    text: str = typer.completion.get_completion_script(  # type: ignore[attr-defined]
        prog_name=PROGRAM, complete_var=VARIABLE, shell=shell.value
    )
    return (text.replace(ZSH_BEFORE, ZSH_AFTER) if shell is Shell.ZSH else text) + "\n"


def show(shell: Shell | None) -> None:
    """Print the completion script and end."""
    if shell:
        put(script(shell))
        raise typer.Exit


def install_for(shell: Shell | None) -> None:
    """Install completion for the current user and end."""
    if shell:
        try:
            _, path = typer.completion.install(  # type: ignore[attr-defined]
                shell=shell.value, prog_name=PROGRAM, complete_var=VARIABLE
            )
            Path(path).write_text(script(shell), encoding="utf-8")
        except (OSError, RuntimeError) as error:  # the latter where nobody knows a home
            why = getattr(error, "strerror", None) or error
            raise UsageError(
                f"completion for {shell} cannot be installed: {why}; print it with "
                f"--show-completion {shell}"
            ) from error
        put(f"completion for {shell} is in {path}; it works in new shells\n")
        raise typer.Exit
