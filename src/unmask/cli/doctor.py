"""`unmask doctor`: whether everything is there that an audit needs, and what to do where not."""

from __future__ import annotations

import os
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from unmask import __version__, plugins
from unmask.checks._check import Check, Surroundings
from unmask.cli import access, choices, collecting, completers, guests, ssh, terminal
from unmask.config import credentials, targets
from unmask.config.settings import Settings, Target
from unmask.errors import UsageError
from unmask.model.checkup import Checkup, Status
from unmask.model.source import CollectOptions
from unmask.report import _doctor
from unmask.report._paint import Paint


class DoctorFormat(StrEnum):
    """How the findings are shown."""

    TABLE = "table"
    JSON = "json"


TARGETS = typer.Argument(
    metavar="TARGET",
    help="Look at these targets too: names of configured ones, or addresses as unmask audit takes "
    "them. Without one: all that are configured, else this hypervisor.",
    show_default=False,
    autocompletion=completers.targets,
)
TIMEOUT = typer.Option(
    "--timeout", metavar="SECONDS", min=1, max=3600, help="What one step at a target may take."
)
FORMAT = typer.Option("--format", help="For people or for programs.")


def run(  # noqa: PLR0913 - a command's options are its parameters
    *,
    target: Annotated[list[str] | None, TARGETS] = None,
    form: Annotated[DoctorFormat, FORMAT] = DoctorFormat.TABLE,
    timeout: Annotated[float, TIMEOUT] = 10,
    key: Annotated[Path | None, ssh.KEY] = None,
    jump: Annotated[str, ssh.JUMP] = "",
    config: Annotated[Path | None, collecting.CONFIG] = None,
    token_file: Annotated[Path | None, access.TOKEN_FILE] = None,
    ca_file: Annotated[Path | None, access.CA_FILE] = None,
    fingerprint: Annotated[list[str] | None, access.FINGERPRINT] = None,
) -> None:
    """Check installation, configuration and targets, and say what to do.

    Nothing is changed, here or there. The exit code is 1 where there is a problem.
    """
    settings, fault = _settings(config)
    over = access.given(fingerprint, ca_file, token_file)
    access.trust(Target("", ""), over)
    login = ssh.options(key, jump, accept_new=False)
    visits = guests.options(
        guests.NOBODY, settings, guests.overrides("", None, accept_new=False), timeout
    )
    like = CollectOptions(timeout=timeout, ssh=login, visits=visits)
    around = Surroundings(
        environment=os.environ,
        config=config,
        settings=settings,
        fault=fault,
        targets=_targets(target or (), settings),
        options_for=lambda item: access.options([item], over, like)(item.address),
        trust_for=lambda item: access.trust(item, over),
        seconds=timeout,
        progress=terminal.progress,
    )
    found = checkup(around)
    if form is DoctorFormat.JSON:
        terminal.put(_doctor.as_json(found))
    else:
        paint = Paint(terminal.colours(os.environ))
        terminal.put(_doctor.render(found, terminal.width(os.environ), paint))
    raise typer.Exit(1 if found.count(Status.PROBLEM) else 0)


def checkup(around: Surroundings) -> Checkup:
    """Return what all checks have found."""
    checks = sorted(plugins.load("unmask.checks", "CHECK", Check), key=lambda check: check.order)
    areas = tuple((check.title, tuple(check.run(around))) for check in checks)
    return Checkup(__version__, areas)


def _settings(config: Path | None) -> tuple[Settings, str]:
    """Return the settings, and what is wrong with them."""
    try:
        return choices.configuration(config), ""
    except UsageError as error:
        return Settings(), str(error)


def _targets(named: Sequence[str], settings: Settings) -> tuple[Target, ...]:
    """Return the targets to look at; none where there is none.

    Raises:
        UsageError: One that the command line names is empty or holds a secret.
    """
    if named:
        for item in named:
            if settings.named(item) is None:
                credentials.refuse_secret(item)
        return targets.choose(named, settings, Path("/"))
    if settings.targets:
        return settings.targets
    local = targets.local(Path("/"))
    return (Target("", local),) if local else ()
