"""The options of commands that log in by SSH."""

from __future__ import annotations

from pathlib import Path

import typer

from unmask.errors import UsageError
from unmask.model.ssh import SshOptions

KEY = typer.Option("--key", metavar="FILE", help="A private key for SSH, tried before all others.")
JUMP = typer.Option(
    "--jump", metavar="HOSTS", help="Go through these by SSH: [user@]host[:port], with commas."
)
ACCEPT_NEW = typer.Option(
    "--accept-new-host-key",
    help="Trust a host of which no SSH key is known and store its key; never a changed one.",
)


def options(key: Path | None, jump: str, *, accept_new: bool) -> SshOptions:
    """Return what the options say.

    Raises:
        UsageError: There is no such key.
    """
    return SshOptions(key_file("--key", key), jump, accept_new)


def key_file(option: str, path: Path | None) -> str:
    """Return the path of the key that `option` names, "" where it names none.

    A key that is not there would be passed over where another way in is found, and be told late
    or never; whoever named it wants to know.

    Raises:
        UsageError: Nothing is there, or it is out of reach.
    """
    if path is None:
        return ""
    try:
        place = path.expanduser()  # the shell leaves ~ alone in --key=~/FILE
        place.stat()
    except (OSError, RuntimeError) as error:  # RuntimeError: ~NAME of nobody
        reason = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"{option} {path}: {reason}; name the file of a private key") from error
    return str(place)
