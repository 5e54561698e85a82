"""`unmask undo`: give guests back the CPU that they had before a run."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from unmask.cli import access, changing, collecting, completers, ssh, terminal
from unmask.cli.collecting import Asked
from unmask.errors import UsageError
from unmask.fixes import recover, undo
from unmask.fixes import run as running
from unmask.fixes._change import named
from unmask.fixes.journal import Journal
from unmask.fixes.run import Hooks, Orders, Outcome
from unmask.fixes.undo import Undo
from unmask.model.run import RunKind
from unmask.report._text import wrap

RUN = typer.Argument(
    metavar="RUN",
    help="The run, or the beginning of its id; see unmask history.",
    autocompletion=completers.runs,
)
VM = typer.Option(
    "--vm",
    metavar="GUEST",
    help="Only this guest of the run, by VMID, UUID or name; may be given several times.",
)
DRY_RUN = typer.Option("--dry-run", help="Look, say what would be written, and write nothing.")


def run(  # noqa: PLR0913 - a command's options are its parameters
    *,
    one: Annotated[str, RUN],
    vm: Annotated[list[str] | None, VM] = None,
    restart: Annotated[bool, changing.RESTART] = False,
    force_stop: Annotated[bool, changing.FORCE_STOP] = False,
    deadline: Annotated[float, changing.DEADLINE] = 180,
    keep_going: Annotated[bool, changing.KEEP_GOING] = False,
    reason: Annotated[str, changing.REASON] = "",
    dry_run: Annotated[bool, DRY_RUN] = False,
    timeout: Annotated[float, collecting.TIMEOUT] = 60,
    key: Annotated[Path | None, ssh.KEY] = None,
    jump: Annotated[str, ssh.JUMP] = "",
    accept_new_host_key: Annotated[bool, ssh.ACCEPT_NEW] = False,
    config: Annotated[Path | None, collecting.CONFIG] = None,
    token_file: Annotated[Path | None, access.TOKEN_FILE] = None,
    ca_file: Annotated[Path | None, access.CA_FILE] = None,
    fingerprint: Annotated[list[str] | None, access.FINGERPRINT] = None,
) -> None:
    """Give guests back the CPU that they had before a run.

    Only where a guest still has what the run gave it; an option that was not set is taken out.
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
    orders = Orders(
        restart=restart,
        force_stop=force_stop,
        keep_going=keep_going,
        seconds_down=deadline,
        seconds_up=deadline,
        reason=reason,
    )
    if force_stop and not restart:
        raise UsageError("--force-stop is a part of a restart: add --restart")
    book, hooks = changing.book(), Hooks(changing.opener(asked), progress=changing.progress)
    recover.refuse_unsettled(book)
    wanted = book.run(one)
    found = undo.plan(wanted, book.runs(), vm or (), hooks.open)
    outcomes = () if dry_run else _done(book, wanted.ident, found, hooks, orders)
    if outcomes:
        with changing.reported(outcomes[0].run):
            _show(found, outcomes)
    else:
        _show(found, outcomes)
    stuck = any(left.failed for left in found.left)
    raise typer.Exit(changing.FAILED if stuck else changing.exit_code(outcomes))


def _done(
    book: Journal, undone: str, found: Undo, hooks: Hooks, orders: Orders
) -> tuple[Outcome, ...]:
    """Take a run back, in a run of its own; nothing where there is nothing to do.

    Where something stands in the way of one guest the others are left too, unless told otherwise.
    """
    stuck = any(left.failed for left in found.left)
    if not found.plans or (stuck and not orders.keep_going):
        return ()
    with book.begin(RunKind.UNDO, orders.reason, undone) as writer, changing.told():
        return running.apply(found.plans, writer, book, hooks, orders)


def _show(found: Undo, outcomes: Sequence[Outcome]) -> None:
    width = terminal.width(os.environ)
    lines = [line for text in _sentences(found, outcomes) for line in wrap(text, width, "", "  ")]
    terminal.progress("")
    terminal.put("\n".join(lines) + "\n")


def _sentences(found: Undo, outcomes: Sequence[Outcome]) -> Iterator[str]:
    for left in found.left:
        yield left.why
    if not outcomes:
        for plan in found.plans:
            yield f"{named(plan.place)}: not done: {plan.steps[0].what}"
        return
    for outcome in outcomes:
        name = named(outcome.plan.place)
        if outcome.problem:
            yield f"{name}: {outcome.problem.removeprefix(f'{name}: ')}"
        else:
            yield f"{name}: {outcome.plan.steps[0].what}: done; {outcome.detail}".rstrip("; ")
    yield f"This is run {outcomes[0].run}."
