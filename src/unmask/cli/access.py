"""How the commands get into targets: options of the command line over those of the file."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import typer

from unmask.cli import terminal
from unmask.config import credentials
from unmask.config.credentials import Surroundings
from unmask.config.reference import Reference
from unmask.config.settings import Target
from unmask.connect import proxmox_address
from unmask.errors import TargetError
from unmask.model.access import Access, Trust
from unmask.model.source import CollectOptions
from unmask.model.ssh import SshOptions

FINGERPRINT = typer.Option(
    "--fingerprint",
    metavar="SHA256",
    help="Trust the server whose certificate has this fingerprint (pve://); may be given several "
    "times.",
)
CA_FILE = typer.Option(
    "--ca-file", metavar="FILE", help="Trust the authorities in this file (pve://)."
)
TOKEN_FILE = typer.Option(
    "--token-file", metavar="FILE", help="The API token, USER@REALM!ID=SECRET (pve://)."
)


def given(
    fingerprints: Sequence[str] | None, ca_file: Path | None, token_file: Path | None
) -> Reference:
    """Return what the command line says of how to get in."""
    return Reference(
        token_file=str(token_file or ""),
        ca_file=str(ca_file or ""),
        fingerprint=tuple(fingerprints or ()),
    )


def options(
    wanted: Sequence[Target], over: Reference, like: CollectOptions
) -> Callable[[str], CollectOptions]:
    """Return what makes the options for the address of one of the targets.

    Args:
        wanted: The targets.
        over: What the command line says of how to get in.
        like: What the command line says beside that, for all of them.

    Raises:
        UsageError: An address holds a secret.
    """
    found: dict[str, Target] = {}
    for target in wanted:
        credentials.refuse_secret(target.address)
        found.setdefault(target.address, target)

    def make(address: str) -> CollectOptions:
        target = found[address]
        return replace(
            like,
            ssh=ssh(target, like.ssh),
            access=access(target, over),
            progress=terminal.progress,
        )

    return make


def access(target: Target, over: Reference) -> Access:
    """Return how to get into a target; nothing for one that needs no credentials of ours.

    Raises:
        UsageError: What the configuration or the environment says is wrong.
        TargetError: The credentials are not there or cannot be read.
    """
    if not proxmox_address.fits(target.address):
        return Access()
    try:
        return credentials.access(target.address, _merged(target.reference, over), around())
    except TargetError as error:
        if not target.beside:
            raise
        names = ", ".join(target.beside)
        raise TargetError(f"{error}; or write one of its names in place of it: {names}") from error


def trust(target: Target, over: Reference) -> Trust:
    """Return which certificate a target's server may show.

    Raises:
        UsageError: A fingerprint is none.
    """
    return credentials.trust(_merged(target.reference, over))


def ssh(target: Target, login: SshOptions) -> SshOptions:
    """Return how to log in to a target by SSH: the command line's words over the file's.

    Raises:
        TargetError: A password that the configuration refers to is not there.
    """
    said = target.reference
    return replace(
        login,
        key=login.key or said.key,
        jump=login.jump or said.jump,
        nodes=said.nodes,
        password=credentials.ssh_password(target.address, said, around()),
    )


def around() -> Surroundings:
    """Return where secrets may come from: the environment, and whoever sits at the terminal."""
    ask = _ask if sys.stdin and sys.stdin.isatty() else None
    return Surroundings(os.environ, terminal.say, ask)


def _merged(reference: Reference, over: Reference) -> Reference:
    """Return the reference with what the command line gives in its place."""
    if over.token_file:
        reference = replace(
            reference, token_file=over.token_file, token_env="", user="", keyring=""
        )
    if over.fingerprint or over.ca_file:
        reference = replace(
            reference, fingerprint=over.fingerprint, ca_file=over.ca_file, insecure=False
        )
    return reference


def _ask(prompt: str) -> str:
    """Ask at the terminal, without showing what is typed."""
    import getpass  # noqa: PLC0415 - rarely needed

    terminal.progress("")  # what is shown of the run would stand before the question
    return getpass.getpass(f"unmask: {prompt}")
