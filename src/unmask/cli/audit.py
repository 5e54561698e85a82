"""`unmask audit`: the options, and the order in which the parts do their work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from unmask import __version__, plugins
from unmask.cli import (
    access,
    choices,
    collecting,
    completers,
    files,
    guests,
    reporting,
    ssh,
    terminal,
)
from unmask.cli.collecting import Asked
from unmask.cli.started import started
from unmask.config.settings import Target
from unmask.dialects import saved
from unmask.engine import accepted, document
from unmask.engine.accepted import Acceptance
from unmask.model.finding import Rule, Severity
from unmask.model.report import Document
from unmask.model.workload import Finder


class FailOn(StrEnum):
    """The severity from which a finding makes the exit code 1."""

    INFO = "info"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"
    NEVER = "never"

    @property
    def severity(self) -> Severity | None:
        """Return the severity, None for never."""
        return None if self is FailOn.NEVER else Severity[self.name]


SAVE = typer.Option(
    "--save", metavar="FILE", help="Save what was read; auditing that gives the same findings."
)
SELECT = typer.Option(
    "--select",
    metavar="CODES",
    help="Only these rules: CPU001,CLU.",
    autocompletion=completers.selections,
)
IGNORE = typer.Option(
    "--ignore",
    metavar="CODES",
    help="Not these rules; beats --select.",
    autocompletion=completers.selections,
)
FAIL_ON = typer.Option("--fail-on", help="Exit with 1 from this severity on.")
ACCEPT = typer.Option(
    "--accept", metavar="FILE", help="Accepted findings (TOML); may be given several times."
)
STRICT = typer.Option("--strict", help="Exit with 3 where anything could not be read or checked.")


def run(  # noqa: PLR0913 - a command's options are its parameters
    *,
    target: Annotated[list[str] | None, collecting.TARGETS] = None,
    form: Annotated[list[str] | None, reporting.FORMAT] = None,
    ticket: Annotated[bool, reporting.TICKET] = False,
    output: Annotated[Path | None, reporting.OUTPUT] = None,
    full: Annotated[bool, reporting.FULL] = False,
    save: Annotated[Path | None, SAVE] = None,
    selected: Annotated[list[str] | None, SELECT] = None,
    ignored: Annotated[list[str] | None, IGNORE] = None,
    fail_on: Annotated[FailOn, FAIL_ON] = FailOn.HIGH,
    accept: Annotated[list[Path] | None, ACCEPT] = None,
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
    no_probe: Annotated[bool, guests.NO_PROBE] = False,
    via: Annotated[list[str] | None, guests.VIA] = None,
    guest_user: Annotated[str, guests.USER] = "",
    guest_key: Annotated[Path | None, guests.KEY] = None,
    guest_timeout: Annotated[float, guests.SECONDS] = 60,
    figures: Annotated[list[Path] | None, guests.FIGURES] = None,
    bench: Annotated[list[Path] | None, guests.BENCH] = None,
    verbose: Annotated[bool, collecting.VERBOSE] = False,
) -> None:
    """Show what every guest's CPU really is, and what is wrong with it."""
    begun = started()
    wanted = reporting.wanted(form or (), output, ticket=ticket, full=full)
    files.check_save(save, [item.path for item in wanted])
    rules = choices.rules(selected, ignored)
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
        figures=figures,
        verbose=verbose,
    )
    settings, targets = collecting.chosen(asked)
    acceptances = choices.acceptances(accept, targets, rules)
    measured = (*choices.figures(asked.figures), *choices.measured(bench))
    read = collecting.collected(asked, settings, targets)
    if read.nothing:
        raise typer.Exit(read.exit_code)
    if save:
        with terminal.working("saving what was read"):
            files.write(save, saved.dump(read.inventory), files.PRIVATE)
    with terminal.working(f"judging {len(read.inventory.guests)} guests"):
        report = document.build(
            read.inventory,
            rules,
            version=__version__,
            started=begun,
            acceptances=acceptances,
            finders=plugins.load("unmask.workloads", "WORKLOAD", Finder),
            measured=measured,
        )
        if reporting.moves(wanted):
            report = document.with_moves(report, plugins.load("unmask.rules", "RULE", Rule))
    report = _called(report, targets)
    _remark(report, acceptances)
    reporting.write(report, wanted)
    failed = read.exit_code
    raise typer.Exit(failed or document.exit_code(report, fail_on.severity, strict=strict))


def _called(report: Document, targets: Sequence[Target]) -> Document:
    """Return the report with what its targets are called, which finds their logins again."""
    names = {target.address: target.name or target.address for target in reversed(targets)}
    called = tuple(names[address] for address in report.run.targets)
    return replace(report, run=replace(report.run, called=called))


def _remark(report: Document, acceptances: Sequence[Acceptance]) -> None:
    """Say which accepted findings have expired or fit nothing."""
    outcome = report.outcome
    everything = (*outcome.findings, *(item.finding for item in outcome.accepted))
    day = datetime.fromisoformat(report.run.started).date()
    for sentence in accepted.remarks(replace(outcome, findings=everything), acceptances, day):
        terminal.say(sentence)
