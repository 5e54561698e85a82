"""How the commands look into guests: their options, and what the configuration adds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from unmask.errors import UsageError
from unmask.model.entry import EVERY_WAY, GuestEntry, VisitOptions
from unmask.model.inventory import Inventory
from unmask.model.source import CollectOptions, Source
from unmask.model.ssh import SshOptions
from unmask.model.visit import Way

NO_PROBE = typer.Option("--no-probe", help="Look into no guest, at no disk and at no port.")
VIA = typer.Option(
    "--via",
    metavar="WAYS",
    help="How to look into guests, in this order: agent,ssh,disk,net. SSH is tried only where a "
    "login is told, or where it is named here.",
)
USER = typer.Option("--guest-user", metavar="USER", help="Log in to guests by SSH as this user.")
KEY = typer.Option("--guest-key", metavar="FILE", help="A private key for guests.")
SECONDS = typer.Option(
    "--guest-timeout", metavar="SECONDS", min=1, max=3600, help="What one guest may take."
)


def ways(named: Sequence[str] | None, *, none: bool) -> tuple[tuple[Way, ...], frozenset[Way]]:
    """Return the ways to try in their order, and those of them that were named.

    Raises:
        UsageError: There is no such way.
    """
    words = [word.strip().lower() for item in named or () for word in item.split(",")]
    found: list[Way] = []
    for word in filter(None, words):
        try:
            found.append(Way(word))
        except ValueError:
            known = ", ".join(Way)
            raise UsageError(f"--via {word}: there is no such way; choose from {known}") from None
    if none and found:
        raise UsageError("--no-probe and --via exclude each other")
    if none:
        return (), frozenset()
    asked = tuple(dict.fromkeys(found))
    return asked or EVERY_WAY, frozenset(asked)


def options(
    chosen: tuple[tuple[Way, ...], frozenset[Way]], user: str, key: Path | None, seconds: float
) -> VisitOptions:
    """Return what the options say, for every guest alike."""
    entry = GuestEntry(user=user, ssh=SshOptions(str(key or "")), told=bool(user or key))
    return VisitOptions(*chosen, seconds=seconds, entry=lambda _: entry)


def visit(source: Source, target: str, found: Inventory, options: CollectOptions) -> Inventory:
    """Look into the guests of a target that is there to be looked into."""
    if not source.live or not options.visits.ways:
        return found
    from unmask.visits._visit import visit as look  # noqa: PLC0415 - not needed with --no-probe

    return look(target, found, options)
