"""How the commands that read targets do it: their options, the logins, and what went wrong."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from unmask import plugins
from unmask.cli import access, choices, completers, guests, ssh, terminal
from unmask.config import targets
from unmask.config.settings import Settings, Target
from unmask.engine import collect
from unmask.model.source import CollectOptions, Source
from unmask.report._text import listed
from unmask.sources import ssh_guest

TARGETS = typer.Argument(
    metavar="TARGET",
    help="pve://HOST, pve+ssh://HOST, a libvirt URI, ssh://HOST for one machine without its "
    "hypervisor, a directory or tar of /etc/pve, a directory "
    "of domain XML, a saved inventory, or the name of a configured target. Without one: the "
    "configured targets, else the hypervisor that this machine is.",
    show_default=False,
    autocompletion=completers.targets,
)
TIMEOUT = typer.Option(
    "--timeout", metavar="SECONDS", min=1, max=86400, help="What reading one target may take."
)
PARALLEL = typer.Option(
    "--parallel", metavar="N", min=1, max=64, help="Requests to one target at the same time."
)
CONFIG = typer.Option(
    "--config", metavar="FILE", help="Instead of ./unmask.toml or ~/.config/unmask/unmask.toml."
)
BY_SSH = re.compile(r"ssh\d*://")
"""pve+ssh://, ssh://, and libvirt's qemu+ssh:// and qemu+libssh2://."""
VERBOSE = typer.Option("--verbose", "-v", help="Say on standard error what is being done.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a command line says of targets, of the ways to them, and of those into their guests."""

    target: Sequence[str] = ()
    config: Path | None = None
    timeout: float = 60
    parallel: int = 16
    key: Path | None = None
    jump: str = ""
    accept_new_host_key: bool = False
    token_file: Path | None = None
    ca_file: Path | None = None
    fingerprint: Sequence[str] | None = None
    no_probe: bool = False
    via: Sequence[str] | None = None
    guest_user: str = ""
    guest_key: Path | None = None
    guest_timeout: float = 60
    figures: Sequence[Path] | None = None
    site: str = ""
    """What to call where all of it is; "" where it is not told."""
    verbose: bool = False


def chosen(asked: Asked) -> tuple[Settings, tuple[Target, ...]]:
    """Return the settings and the targets to read.

    Raises:
        UsageError: The configuration is wrong, or there is nothing to read.
    """
    settings = choices.configuration(asked.config)
    return settings, targets.choose(asked.target, settings, Path("/"))


def collected(asked: Asked, settings: Settings, wanted: Sequence[Target]) -> collect.Collected:
    """Read the targets, look into their guests, and say on standard error what went wrong.

    Raises:
        UsageError: An option is wrong. A target that cannot be read is in the answer.
    """
    _mention_machines(asked, wanted)
    return read(
        wanted,
        options(asked, settings, wanted),
        guests.visitor(settings),
        verbose=asked.verbose,
        site=asked.site,
    )


def words(asked: Asked) -> str:
    """Return how a target was entered, as options of another command, quoted for a shell."""
    given = [
        ("--config", asked.config),
        ("--key", asked.key),
        ("--jump", asked.jump),
        ("--token-file", asked.token_file),
        ("--ca-file", asked.ca_file),
        *(("--fingerprint", item) for item in asked.fingerprint or ()),
    ]
    return shlex.join(word for name, value in given if value for word in (name, str(value)))


def _mention_machines(asked: Asked, wanted: Sequence[Target]) -> None:
    """Say where an option about guests says nothing of a target that is one machine itself."""
    machines = [item.address for item in wanted if ssh_guest.fits(item.address)]
    if machines and (asked.via or asked.no_probe):
        option = "--via" if asked.via else "--no-probe"
        terminal.say(
            f"{option} is about the guests of hypervisors: {listed(machines)} is looked into by "
            "SSH all the same"
        )


def options(
    asked: Asked, settings: Settings, wanted: Sequence[Target]
) -> Callable[[str], CollectOptions]:
    """Return what makes the options for the address of one of the targets.

    Raises:
        UsageError: An option is wrong.
    """
    login = ssh.options(asked.key, asked.jump, accept_new=asked.accept_new_host_key)
    over = access.given(asked.fingerprint, asked.ca_file, asked.token_file)
    door = guests.overrides(asked.guest_user, asked.guest_key, accept_new=asked.accept_new_host_key)
    ways = guests.ways(asked.via, none=asked.no_probe)
    visits = guests.options(ways, settings, door, asked.guest_timeout)
    like = CollectOptions(timeout=asked.timeout, workers=asked.parallel, ssh=login, visits=visits)
    return access.options(wanted, over, like)


def _reading(text: str) -> None:
    """Show what is read, but not where SSH may ask for a password in the same line."""
    if not BY_SSH.search(text):
        terminal.progress(text)


def read(
    wanted: Sequence[Target],
    options_for: Callable[[str], CollectOptions],
    visit: collect.Visit,
    *,
    verbose: bool,
    site: str = "",
) -> collect.Collected:
    """Read the targets, let `visit` look into them, and say on standard error what went wrong."""
    sources = plugins.load("unmask.sources", "SOURCE", Source)
    found = collect.collect(
        [item.address for item in wanted],
        lambda address: targets.source_for(address, sources),
        options_for,
        terminal.say if verbose else _reading,
        visit,
        site,
    )
    terminal.progress("")
    for sentence in (*(failure.sentence for failure in found.failures), *found.notes):
        terminal.say(sentence)
    return found
