"""`unmask collect`: read a site and save it, to be judged elsewhere and together with others."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unmask.cli import access, collecting, files, guests, ssh, terminal
from unmask.cli.collecting import Asked
from unmask.dialects import saved
from unmask.engine import site as naming
from unmask.errors import UsageError
from unmask.model.inventory import Inventory
from unmask.report._text import listed

SAVE = typer.Option(
    "--save",
    metavar="FILE",
    help="Where to save it, whole or not at all, for its owner alone; - for standard output.",
    show_default=False,
)
SITE = typer.Option(
    "--site",
    metavar="NAME",
    help="What to call the site; without it, as the file is called. Everything that is read there "
    "is named SITE:... in reports.",
)


def run(  # noqa: PLR0913 - a command's options are its parameters
    *,
    target: Annotated[list[str] | None, collecting.TARGETS] = None,
    save: Annotated[Path, SAVE],
    site: Annotated[str, SITE] = "",
    timeout: Annotated[float, collecting.TIMEOUT] = 60,
    parallel: Annotated[int, collecting.PARALLEL] = 16,
    key: Annotated[Path | None, ssh.KEY] = None,
    jump: Annotated[str, ssh.JUMP] = "",
    accept_new_host_key: Annotated[bool, ssh.ACCEPT_NEW] = False,
    config: Annotated[Path | None, collecting.CONFIG] = None,
    token_file: Annotated[Path | None, access.TOKEN_FILE] = None,
    ca_file: Annotated[Path | None, access.CA_FILE] = None,
    fingerprint: Annotated[list[str] | None, access.FINGERPRINT] = None,
    no_probe: Annotated[bool, guests.NO_PROBE] = False,
    via: Annotated[list[str] | None, guests.VIA] = None,
    guest_user: Annotated[str, guests.USER] = "",
    guest_key: Annotated[Path | None, guests.KEY] = None,
    guest_timeout: Annotated[float, guests.SECONDS] = 60,
    verbose: Annotated[bool, collecting.VERBOSE] = False,
) -> None:
    """Read hypervisors and guests and save that, to be judged elsewhere.

    Nothing is judged. What could be read is saved even where a target failed; the exit code is
    3 then.
    """
    asked = Asked(
        target=target or (),
        config=config,
        timeout=timeout,
        parallel=parallel,
        key=key,
        jump=jump,
        accept_new_host_key=accept_new_host_key,
        token_file=token_file,
        ca_file=ca_file,
        fingerprint=fingerprint,
        no_probe=no_probe,
        via=via,
        guest_user=guest_user,
        guest_key=guest_key,
        guest_timeout=guest_timeout,
        site=_site(site, save),
        verbose=verbose,
    )
    files.check([save])
    read = collecting.collected(asked, *collecting.chosen(asked))
    if read.nothing:
        terminal.say("nothing could be read, and nothing was saved")
        raise typer.Exit(read.exit_code)
    text = saved.dump(read.inventory)
    if save == files.STDOUT:  # ssh HOST unmask collect ... > FILE
        terminal.put(text)
    else:
        files.write(save, text, files.PRIVATE)
    terminal.say(_sentence(read.inventory, save))
    raise typer.Exit(read.exit_code)


def _site(given: str, save: Path) -> str:
    """Return the site's name: as it is given, else as the file is called.

    Raises:
        UsageError: It cannot be one.
    """
    if given or save != files.STDOUT:
        return naming.checked(given or save.stem)
    raise UsageError("--save - has no name to call the site by: add --site NAME")


def _sentence(inventory: Inventory, save: Path) -> str:
    """Return what was collected, and what to do with it."""
    counts = " on ".join(
        f"{count} {word}{'' if count == 1 else 's'}"
        for count, word in ((len(inventory.guests), "guest"), (len(inventory.hosts), "host"))
    )
    gaps = len(inventory.gaps)
    unread = f", with {gaps} {'gap' if gaps == 1 else 'gaps'}" if gaps else ""
    where = listed(naming.sites(inventory))
    file = "FILE" if save == files.STDOUT else save
    return f"collected {counts}{unread}, of the site {where}; to judge it: unmask audit {file}"
