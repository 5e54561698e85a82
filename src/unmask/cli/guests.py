"""How the commands look into guests: their options, and what the configuration adds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import typer

from unmask.cli import access, ssh
from unmask.config.guests import Entries, Overrides, declared
from unmask.config.settings import Settings
from unmask.engine.collect import Visit
from unmask.errors import UsageError
from unmask.model.entry import EVERY_WAY, VisitOptions
from unmask.model.inventory import Guest, Inventory
from unmask.model.source import CollectOptions, Source
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
FIGURES = typer.Option(
    "--figures",
    metavar="FILE",
    help="Figures that `unmask bench --as --save` measured on nodes, instead of general ones.",
)
BENCH = typer.Option(
    "--bench",
    metavar="FILE",
    help="Results that `unmask bench --save` wrote: shown beside the findings, and used as those "
    "of --figures are; may be given several times, before and after a change.",
)

NOBODY: tuple[tuple[Way, ...], frozenset[Way]] = ((), frozenset())
"""No way at all, as `ways` returns it."""


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
    chosen: tuple[tuple[Way, ...], frozenset[Way]],
    settings: Settings,
    over: Overrides,
    seconds: float,
) -> VisitOptions:
    """Return how guests are looked into: the command line's words over those of the file."""
    entries = Entries(settings, over, access.around())
    return VisitOptions(*chosen, seconds=seconds, entry=entries)


def overrides(user: str, key: Path | None, *, accept_new: bool) -> Overrides:
    """Return what the command line says of every guest alike.

    Raises:
        UsageError: There is no such key.
    """
    return Overrides(user, ssh.key_file("--guest-key", key), accept_new)


def visitor(settings: Settings) -> Visit:
    """Return what looks into the guests of a target, after adding what the file declares of them.

    Copies of files have no guests that could be looked into.
    """

    def visit(source: Source, target: str, found: Inventory, wanted: CollectOptions) -> Inventory:
        told = replace(found, guests=tuple(_declared(guest, settings) for guest in found.guests))
        if not source.live or not wanted.visits.ways:
            return told
        from unmask.visits._visit import visit as look  # noqa: PLC0415 - not with --no-probe

        return look(target, told, wanted)

    return visit


def _declared(guest: Guest, settings: Settings) -> Guest:
    """Return the guest with the file's declarations, once where it was saved with them."""
    said = declared(settings, guest)
    return (
        replace(guest, declared=tuple(dict.fromkeys((*guest.declared, *said)))) if said else guest
    )
