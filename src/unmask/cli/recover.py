"""`unmask recover`: look at the guests that a run has left in the middle of a change."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from unmask.cli import access, changing, collecting, ssh, terminal
from unmask.cli.collecting import Asked
from unmask.fixes import recover
from unmask.fixes.recover import Settled, Ways
from unmask.model.run import Verdict
from unmask.report._text import wrap

FINISH = typer.Option(
    "--finish-undo",
    help="Where a change was being taken back when the run ended: go on with that. Nothing else is "
    "ever written.",
)
GONE = typer.Option(
    "--gone",
    metavar="GUEST",
    help="This guest no longer exists (VMID, UUID or name): settle it without a look; may be given "
    "several times.",
)


def run(  # noqa: PLR0913 - a command's options are its parameters
    *,
    finish_undo: Annotated[bool, FINISH] = False,
    gone: Annotated[list[str] | None, GONE] = None,
    timeout: Annotated[float, collecting.TIMEOUT] = 60,
    key: Annotated[Path | None, ssh.KEY] = None,
    jump: Annotated[str, ssh.JUMP] = "",
    accept_new_host_key: Annotated[bool, ssh.ACCEPT_NEW] = False,
    config: Annotated[Path | None, collecting.CONFIG] = None,
    token_file: Annotated[Path | None, access.TOKEN_FILE] = None,
    ca_file: Annotated[Path | None, access.CA_FILE] = None,
    fingerprint: Annotated[list[str] | None, access.FINGERPRINT] = None,
) -> None:
    """Look at guests that a run has left in the middle of a change.

    Each has its old CPU, or its new one, or one that somebody else has set since; which of them
    goes into the journal. Nothing is written to a guest.
    """
    asked = Asked(
        config=config,
        timeout=timeout,
        key=key,
        jump=jump,
        accept_new_host_key=accept_new_host_key,
        token_file=token_file,
        ca_file=ca_file,
        fingerprint=fingerprint,
    )
    ways = Ways(changing.opener(asked), finish_undo=finish_undo, gone=frozenset(gone or ()))
    found = recover.recover(changing.book(), ways)
    width = terminal.width(os.environ)
    lines = [line for item in found for line in wrap(item.sentence, width, "", "  ")]
    terminal.put("\n".join(lines or ["Nothing to recover: every run is settled."]) + "\n")
    if any(map(_open, found)):
        raise typer.Exit(changing.FAILED)


def _open(item: Settled) -> bool:
    """Return whether somebody has to look at a guest."""
    return item.verdict in (None, Verdict.OTHER)
