"""The options of commands that log in by SSH."""

from __future__ import annotations

from pathlib import Path

import typer

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
    """Return what the options say."""
    return SshOptions(str(key) if key else "", jump, accept_new)
