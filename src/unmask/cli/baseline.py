"""`unmask baseline`: the flags and CPU models that nodes have in common."""

from __future__ import annotations

import os
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from unmask import __version__, plugins
from unmask.cli import access, collecting, files, guests, ssh, terminal
from unmask.cli.collecting import Asked
from unmask.cli.started import started
from unmask.cpu import features
from unmask.dialects import described_host, saved
from unmask.engine import baseline
from unmask.engine.baseline import Question
from unmask.engine.cases import guest_cases
from unmask.errors import InputError, UsageError
from unmask.model.baseline import BaselineDocument
from unmask.model.inventory import Host, Inventory
from unmask.model.workload import Finder
from unmask.report import _baseline, _baseline_records
from unmask.report._paint import Paint

DESCRIPTION_LIMIT = 8 * 1024 * 1024
"""Bytes of a file that describes a machine: a thousand threads print 2 MiB."""


class BaselineFormat(StrEnum):
    """How a baseline is shown."""

    TABLE = "table"
    JSON = "json"


NODES = typer.Option("--nodes", metavar="NAMES", help="Only these nodes: pve1,pve2.")
NEED = typer.Option(
    "--need",
    metavar="FLAGS",
    help="Rank models by these flags (aes,pclmulqdq) and not by what the guests' work needs.",
)
WITH = typer.Option(
    "--with",
    metavar="FILE",
    help="What a new node would do: its /proc/cpuinfo, or what lscpu, virsh capabilities or "
    "virsh domcapabilities print; may be given several times.",
)
COMPARE = typer.Option(
    "--compare", metavar="FILE", help="Which nodes changed since an inventory that --save wrote."
)
FORMAT = typer.Option("--format", help="For people or for programs.")
OUTPUT = typer.Option(
    "--output", "-o", metavar="FILE", help="Write the report to a file, whole or not at all."
)
SAVE = typer.Option("--save", metavar="FILE", help="Save what was read, to compare with later.")


def run(  # noqa: PLR0913 - a command's options are its parameters
    *,
    target: Annotated[list[str] | None, collecting.TARGETS] = None,
    nodes: Annotated[list[str] | None, NODES] = None,
    need: Annotated[list[str] | None, NEED] = None,
    arriving: Annotated[list[Path] | None, WITH] = None,
    compare: Annotated[Path | None, COMPARE] = None,
    form: Annotated[BaselineFormat, FORMAT] = BaselineFormat.TABLE,
    output: Annotated[Path | None, OUTPUT] = None,
    save: Annotated[Path | None, SAVE] = None,
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
    """Show which CPU flags and models all nodes have in common.

    It writes a custom model for them, too. The exit code is 1 where --compare finds that a node
    has lost flags.
    """
    files.check_save(save, [output])
    question = Question(
        nodes=_words(nodes),
        needs=_flags(need),
        arriving=tuple(_described(path) for path in arriving or ()),
        earlier=_earlier(compare),
        compared=str(compare or ""),
    )
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
        verbose=verbose,
    )
    read = collecting.collected(asked, *collecting.chosen(asked))
    if read.nothing:
        raise typer.Exit(read.exit_code)
    if save:
        files.write(save, saved.dump(read.inventory), files.PRIVATE)
    with terminal.working(f"comparing {len(read.inventory.hosts)} nodes"):
        document = _document(read.inventory, question)
    _write(document, form, output)
    raise typer.Exit(read.exit_code or int(_lost(document)))


def _document(inventory: Inventory, question: Question) -> BaselineDocument:
    begun = started()
    finders = plugins.load("unmask.workloads", "WORKLOAD", Finder)
    cases = guest_cases(inventory, finders)
    return baseline.build(inventory, cases, question, version=__version__, started=begun)


def _lost(document: BaselineDocument) -> bool:
    return any(item.lost for item in document.drift or ())


def _write(document: BaselineDocument, form: BaselineFormat, output: Path | None) -> None:
    if form is BaselineFormat.JSON:
        text = _baseline_records.render(document)
    else:
        coloured = output is None and terminal.colours(os.environ)
        text = _baseline.render(document, terminal.width(os.environ), Paint(coloured))
    if output:
        files.write(output, text)
    else:
        terminal.put(text)


def _words(given: Sequence[str] | None) -> tuple[str, ...]:
    words = (word.strip() for item in given or () for word in item.split(","))
    return tuple(dict.fromkeys(filter(None, words)))


def _flags(given: Sequence[str] | None) -> tuple[str, ...]:
    """Return the flags of --need in our spelling.

    Raises:
        UsageError: There is no flag of such a name.
    """
    words = _words(given)
    unknown = [word for word in words if not features.known(word)]
    if unknown:
        raise UsageError(f"--need {unknown[0]}: no flag is called that, write aes or pclmulqdq")
    return tuple(dict.fromkeys(map(features.canonical, words)))


def _described(path: Path) -> Host:
    """Return the machine that a file describes.

    Raises:
        UsageError: It cannot be read, or describes no machine.
    """
    text = files.read(path, DESCRIPTION_LIMIT)
    try:
        return described_host.described(text, path.name)
    except InputError as error:
        raise UsageError(f"--with {path}: {error}") from error


def _earlier(path: Path | None) -> Inventory | None:
    """Return the inventory to compare with.

    Raises:
        UsageError: It cannot be read, or is none that --save wrote.
    """
    if path is None:
        return None
    try:
        return saved.load(files.read(path, saved.LIMIT))
    except InputError as error:
        raise UsageError(f"--compare {path}: {error}") from error
