"""The command line as typer sees it; a command's module is imported when it is asked for."""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
import typer.core
import typer.main

from unmask import __version__
from unmask.cli import completion, overview
from unmask.cli.terminal import put
from unmask.errors import UsageError

WRONG: Any = typer.BadParameter.__base__
"""typer's error about a command line, which it has no public name for."""
INTERRUPTED = 130
WORDS = (
    ("Value error, ", ""),
    ("Input should be a valid number.*", "a number is wanted"),
    ("Input should be a valid integer.*", "a whole number is wanted"),
    ("Input should be (greater|less) than or equal to", r"it must be \1 than or equal to"),
    (r"\(Possible options: (.*)\)", r"(did you mean \1?)"),
)
"""What the libraries say of a wrong value, and how it is said here."""


class LazyGroup(typer.core.TyperGroup):
    """A group that knows its commands' names from `overview.COMMANDS`."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        # Names without commands: enough to list them and to suggest one for a slip of the pen.
        names: dict[str, Any] = dict.fromkeys(overview.COMMANDS)
        self.commands = names
        self._listing = False

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - typer's signature
        """Return the commands in the order of the overview."""
        return list(self.commands)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - typer's signature
        """Import the module of this name and return its command; None where there is none."""
        if cmd_name not in self.commands:
            return None
        if self._listing:
            return typer.core.TyperCommand(cmd_name, help=overview.COMMANDS[cmd_name])
        return command(cmd_name)

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Return the commands that begin so, without importing any of them."""
        self._listing = True
        try:
            return super().shell_complete(ctx, incomplete)
        finally:
            self._listing = False

    def get_help(self, ctx: Any) -> str:  # noqa: ARG002 - typer's signature
        """Return the overview."""
        return overview.page().rstrip()


def command(name: str) -> Any:
    """Return the command whose function is `run` in `unmask.cli.NAME` (with `_` for `-`)."""
    module = importlib.import_module(f"unmask.cli.{name.replace('-', '_')}")
    single = _plain(typer.Typer)
    single.command(name)(module.run)
    return typer.main.get_command(single)


def application() -> Any:
    """Return the whole command line."""
    app = _plain(typer.Typer, cls=LazyGroup)
    app.callback()(_root)
    return typer.main.get_command(app)


def run(arguments: Sequence[str]) -> None:
    """Run the command line; always ends with `SystemExit` unless an error of ours is raised.

    Raises:
        UsageError: The command line is wrong.
    """
    if completion.VARIABLE in os.environ:
        completion.prepare()
    try:
        code = application().main(
            list(arguments),
            prog_name=completion.PROGRAM,
            complete_var=completion.VARIABLE,
            standalone_mode=False,
        )
    except typer.Abort:
        sys.exit(INTERRUPTED)
    except WRONG as error:
        raise UsageError(_sentence(error)) from None
    sys.exit(code if isinstance(code, int) else 0)


def _sentence(error: Any) -> str:
    """Return what is wrong with a command line, in one line that says where to look."""
    text = error.format_message().strip()
    for words, ours in WORDS:
        text = re.sub(words, ours, text)
    text = " ".join(text.split())
    path = error.ctx.command_path if error.ctx else completion.PROGRAM
    return f"{text if text[-1:] in '.?' else f'{text}.'} See {path} --help"


def _plain(make: Any, **options: Any) -> Any:
    """Make an application without rich, whose import would double the time to start."""
    return make(
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        **options,
    )


def _version(value: bool) -> None:  # noqa: FBT001 - typer calls it
    if value:
        put(f"unmask {__version__}\n")
        raise typer.Exit


def _root(
    *,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True)] = False,
    show_completion: Annotated[
        completion.Shell | None,
        typer.Option("--show-completion", callback=completion.show, is_eager=True),
    ] = None,
    install_completion: Annotated[
        completion.Shell | None,
        typer.Option("--install-completion", callback=completion.install_for, is_eager=True),
    ] = None,
) -> None:
    """Audits which CPU features hypervisors hide from encrypted guests."""
    del version, show_completion, install_completion  # their callbacks have done it
