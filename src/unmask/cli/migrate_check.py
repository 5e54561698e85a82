"""`unmask migrate-check`: which moves between hosts go, alive or stopped, and why not."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from unmask import __version__, plugins
from unmask.cli import access, collecting, completers, files, ssh, terminal
from unmask.cli.collecting import Asked
from unmask.cli.started import started
from unmask.dialects import saved
from unmask.engine import asked_cpu, evacuate, move_verdict, moves
from unmask.errors import UsageError
from unmask.model.finding import Rule
from unmask.model.inventory import Guest, Host, Inventory
from unmask.model.migration import MigrationDocument, Question
from unmask.model.report import Run
from unmask.report import _migration, _migration_records
from unmask.report._paint import Paint

T = TypeVar("T")


class MigrationFormat(StrEnum):
    """How moves are shown."""

    TABLE = "table"
    JSON = "json"


VM = typer.Option("--vm", metavar="GUEST", help="Only this guest: VMID, name, CLUSTER/VMID.")
TO = typer.Option("--to", metavar="NODE", help="Only to this node; may be in another cluster.")
CPU = typer.Option(
    "--cpu",
    metavar="MODEL",
    help="Guests as they would be after a restart with this CPU: host, x86-64-v3, "
    "kvm64,flags=+aes, custom-NAME; for libvirt host-model or Haswell-noTSX,+aes.",
    autocompletion=completers.cpus,
)
EVACUATE = typer.Option("--evacuate", metavar="NODE", help="Where each guest of this node can go.")
MATRIX = typer.Option("--matrix", help="All guests against all nodes (the default).")
FORMAT = typer.Option("--format", help="For people or for programs.")
OUTPUT = typer.Option(
    "--output", "-o", metavar="FILE", help="Write the report to a file, whole or not at all."
)
SAVE = typer.Option("--save", metavar="FILE", help="Save what was read.")
STRICT = typer.Option("--strict", help="Exit with 3 where an answer is not known.")


def run(  # noqa: PLR0913 - a command's options are its parameters
    *,
    target: Annotated[list[str] | None, collecting.TARGETS] = None,
    vm: Annotated[list[str] | None, VM] = None,
    to: Annotated[list[str] | None, TO] = None,
    cpu: Annotated[str, CPU] = "",
    leave: Annotated[str, EVACUATE] = "",
    matrix: Annotated[bool, MATRIX] = False,
    form: Annotated[MigrationFormat, FORMAT] = MigrationFormat.TABLE,
    output: Annotated[Path | None, OUTPUT] = None,
    save: Annotated[Path | None, SAVE] = None,
    strict: Annotated[bool, STRICT] = False,
    timeout: Annotated[float, collecting.TIMEOUT] = 60,
    parallel: Annotated[int, collecting.PARALLEL] = 16,
    key: Annotated[Path | None, ssh.KEY] = None,
    jump: Annotated[str, ssh.JUMP] = "",
    accept_new_host_key: Annotated[bool, ssh.ACCEPT_NEW] = False,
    config: Annotated[Path | None, collecting.CONFIG] = None,
    token_file: Annotated[Path | None, access.TOKEN_FILE] = None,
    ca_file: Annotated[Path | None, access.CA_FILE] = None,
    fingerprint: Annotated[list[str] | None, access.FINGERPRINT] = None,
    verbose: Annotated[bool, collecting.VERBOSE] = False,
) -> None:
    """Show which guests can move where, alive or stopped, and why not.

    The exit code is 1 where a move that is asked for is blocked: with --to each of them, with
    --vm, --cpu or --evacuate where a guest can go nowhere.
    """
    files.check_save(save, [output])
    question = Question(tuple(vm or ()), tuple(to or ()), cpu, leave, matrix)
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
        no_probe=True,
        verbose=verbose,
    )
    read = collecting.collected(asked, *collecting.chosen(asked))
    if read.nothing:
        raise typer.Exit(read.exit_code)
    if save:
        files.write(save, saved.dump(read.inventory), files.PRIVATE)
    with terminal.working(f"working out the moves of {len(read.inventory.guests)} guests"):
        document = answer(read.inventory, question)
    _write(document, form, output)
    raise typer.Exit(read.exit_code or move_verdict.exit_code(document, strict=strict))


def answer(inventory: Inventory, question: Question) -> MigrationDocument:
    """Return the answers to a question about moves.

    Raises:
        UsageError: A guest or node that it names is not there, or cannot be meant, or `--cpu` is
            none for a guest.
    """
    guests = _named("guest", question.guests, inventory.guests, _guest_names)
    targets = _named("node", question.to, inventory.hosts, _host_names)
    origins = _named(
        "node", [question.evacuate] if question.evacuate else [], inventory.hosts, _host_names
    )
    _evacuable(origins, targets, guests)
    question = replace(
        question,
        guests=tuple(guest.subject for guest in guests),
        to=tuple(host.subject for host in targets),
        evacuate=origins[0].subject if origins else "",
    )
    rules = plugins.load("unmask.rules", "RULE", Rule)
    wanted = [
        guest
        for guest in inventory.guests
        if (not guests or guest in guests) and guest.host == (question.evacuate or guest.host)
    ]
    asked = moves.Asked(
        guests=frozenset(question.guests),
        targets=frozenset(question.to),
        origins=frozenset(host.subject for host in origins),
        cpu=question.cpu,
        specs=asked_cpu.specs(inventory, wanted, question.cpu) if question.cpu else {},
    )
    found = moves.moves(inventory, rules, asked)
    begun = started()
    complete = not inventory.gaps
    plan = evacuate.plan(inventory, question.evacuate, found, question.guests) if origins else None
    return MigrationDocument(
        Run(__version__, begun, inventory.targets, complete),
        question,
        inventory,
        found,
        plan,
        tuple((rule.code, rule.title) for rule in rules),
    )


def _evacuable(origins: Sequence[Host], targets: Sequence[Host], guests: Sequence[Guest]) -> None:
    """Raise `UsageError` where it is not clear what is to be emptied, or nothing can be."""
    if not origins:
        return
    if len(origins) > 1:
        names = ", ".join(host.subject for host in origins)
        raise UsageError(f"--evacuate {origins[0].name}: that may be {names}; name one of them")
    node = origins[0]
    if node in targets:
        raise UsageError(f"--to {node.name}: that is the node which --evacuate empties")
    for guest in guests:
        if guest.host != node.subject:
            raise UsageError(f"--vm {guest.ident}: it is on {guest.host}, not on {node.subject}")


def _guest_names(guest: Guest) -> Iterable[str]:
    return guest.names


def _host_names(host: Host) -> Iterable[str]:
    return host.names


def _named(
    what: str, words: Sequence[str], items: Sequence[T], names: Callable[[T], Iterable[str]]
) -> list[T]:
    """Return the items of these names."""
    found: list[T] = []
    for word in (part.strip() for text in words for part in text.split(",")):
        fitting = [item for item in items if word and word in names(item)]
        if not fitting:
            every = sorted({next(iter(names(item))) for item in items})
            known = ", ".join(every[:12]) or "none at all"
            more = f" and {len(every) - 12} more" if len(every) > 12 else ""
            raise UsageError(f"there is no {what} {word!r}; there are {known}{more}")
        found += fitting
    return found


def _write(document: MigrationDocument, form: MigrationFormat, output: Path | None) -> None:
    if form is MigrationFormat.JSON:
        text = _migration_records.render(document)
    else:
        coloured = output is None and terminal.colours(os.environ)
        text = _migration.render(document, terminal.width(os.environ), Paint(coloured))
    if output:
        files.write(output, text)
    else:
        terminal.put(text)
