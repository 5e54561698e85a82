"""`unmask config check`: which targets can be read, and which privileges are missing for what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from unmask import plugins
from unmask.checks import _pve_login
from unmask.cli import access, choices, completers, guests, ssh, terminal
from unmask.config import privileges, targets
from unmask.config.settings import Target
from unmask.connect import proxmox_address
from unmask.dialects.proxmox.permissions import Permissions
from unmask.errors import TargetError, UnmaskError
from unmask.model.access import Login, Trust
from unmask.model.source import CollectOptions, Source
from unmask.report._text import clean


class Action(StrEnum):
    """What to do with the configuration."""

    CHECK = "check"


ACTION = typer.Argument(metavar="check", help="Try every target and tell what works.")
TARGETS = typer.Argument(
    metavar="TARGET",
    help="Names of configured targets, or addresses; without one all that are configured.",
    show_default=False,
    autocompletion=completers.targets,
)
CONFIG = typer.Option(
    "--config", metavar="FILE", help="Instead of ./unmask.toml or ~/.config/unmask/unmask.toml."
)
TIMEOUT = typer.Option(
    "--timeout", metavar="SECONDS", min=1, max=86400, help="What one target may take."
)


@dataclass(frozen=True, slots=True)
class Line:
    """A line about a target."""

    text: str
    works: bool = True
    """False where it tells of something without which an audit is not whole."""


def run(  # noqa: PLR0913 - a command's options are its parameters
    *,
    action: Annotated[Action, ACTION],
    target: Annotated[list[str] | None, TARGETS] = None,
    timeout: Annotated[float, TIMEOUT] = 30,
    key: Annotated[Path | None, ssh.KEY] = None,
    jump: Annotated[str, ssh.JUMP] = "",
    accept_new_host_key: Annotated[bool, ssh.ACCEPT_NEW] = False,
    config: Annotated[Path | None, CONFIG] = None,
    token_file: Annotated[Path | None, access.TOKEN_FILE] = None,
    ca_file: Annotated[Path | None, access.CA_FILE] = None,
    fingerprint: Annotated[list[str] | None, access.FINGERPRINT] = None,
) -> None:
    """Tell which configured targets work, and which privileges they lack."""
    del action  # there is one so far
    settings = choices.configuration(config)
    wanted = targets.choose(target or (), settings, Path("/"))
    over = access.given(fingerprint, ca_file, token_file)
    login = ssh.options(key, jump, accept_new=accept_new_host_key)
    door = guests.overrides("", None, accept_new=accept_new_host_key)
    visits = guests.options(guests.NOBODY, settings, door, timeout)
    like = CollectOptions(timeout=timeout, ssh=login, visits=visits)
    # Each by itself: two targets may be one address with two logins.
    options = [access.options([item], over, like) for item in wanted]
    failed = False
    for item, options_for in zip(wanted, options, strict=True):
        name = f"{item.name}: " if item.name else ""
        terminal.put(f"{clean(name + item.address)}\n")
        try:
            for line in _checked(item, options_for(item.address)):
                failed |= not line.works
                indent = len(line.text) - len(line.text.lstrip())
                terminal.put(f"  {' ' * indent}{clean(line.text)}\n")
        except UnmaskError as error:
            failed = True
            terminal.put(f"  does not work: {clean(str(error))}\n")
    raise typer.Exit(TargetError.exit_code if failed else 0)


def _checked(target: Target, options: CollectOptions) -> Iterator[Line]:
    """Yield lines about one target."""
    if proxmox_address.fits(target.address):
        yield from _api(target, options)
        return
    source = targets.source_for(target.address, plugins.load("unmask.sources", "SOURCE", Source))
    found = source.collect(target.address, options)
    guests_found, gaps = len(found.guests), len(found.gaps)
    counted = "1 guest" if guests_found == 1 else f"{guests_found} guests"
    unread = f", {gaps} not read (unmask audit names what)" if gaps else ""
    yield Line(f"audit works: {counted}{unread}")


def _api(target: Target, options: CollectOptions) -> Iterator[Line]:
    """Yield lines about an API: every entry node, then what the login may do."""
    login, trust = options.access.login, options.access.trust
    if login is None:
        raise TargetError("there is no token or password for it")
    address = proxmox_address.parse(target.address)
    entries = (address, *(proxmox_address.entry(item) for item in options.access.entries))
    yield Line(f"{login.words}; {_trust(trust)}")
    answer: tuple[str, Permissions] | None = None
    for entry in entries:
        try:
            found = _pve_login.ask(entry, login, trust, options.timeout)
        except UnmaskError as error:
            yield Line(f"{entry.place} does not work: {error}", works=False)
            continue
        yield Line(f"{entry.place} answers: Proxmox VE {found[0]}")
        answer = answer or found
    if answer is not None:
        yield from _purposes(*answer, login)


def _trust(trust: Trust) -> str:
    if trust.insecure:
        return "its certificate is not verified (insecure)"
    pinned = "the certificate is pinned" if trust.fingerprints else ""
    signed = f"authorities: {trust.ca_file}" if trust.ca_file else ""
    return "; ".join(filter(None, (pinned, signed))) or "authorities: the system's"


def _purposes(version: str, permissions: Permissions, login: Login) -> Iterator[Line]:
    for purpose in privileges.PURPOSES:
        lacks = privileges.lacking(purpose, permissions, version)
        if not lacks:
            yield Line(f"{purpose.name}: works")
            continue
        yield Line(f"{purpose.name}: lacks", works=purpose is not privileges.AUDIT)
        for need in lacks:
            yield Line(f"    {need.privilege} on {need.path}, for {need.purpose}")
        yield Line("    to grant it, run as root on a node:")
        for command in privileges.commands(purpose, version, login.user):
            yield Line(f"      {command}")
    yield Line("a user and token of their own, with the least that audit needs:")
    for command in privileges.commands(privileges.AUDIT, version):
        yield Line(f"    {command}")
