"""`unmask fix`: plan a change of guests' CPU, have its costs acknowledged, and make it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from unmask import __version__, plugins
from unmask.cli import (
    access,
    changing,
    collecting,
    completers,
    files,
    fixing,
    guests,
    proving,
    settling,
    ssh,
    terminal,
)
from unmask.cli.collecting import Asked
from unmask.cli.fixing import Planner, Site
from unmask.cli.settling import FixFormat, Shown, Wants
from unmask.cli.started import started
from unmask.errors import UsageError
from unmask.fixes import custom_model, recover
from unmask.fixes import run as running
from unmask.fixes.run import Hooks, Orders, Outcome
from unmask.model.change import Plan
from unmask.model.finding import Rule
from unmask.model.fix import FixDocument, Result
from unmask.model.inventory import Gap
from unmask.model.report import Run
from unmask.model.run import RunKind

VM = typer.Option(
    "--vm", metavar="GUEST", help="A guest's VMID, UUID or name; may be given several times."
)
ALL = typer.Option("--all", help="Every guest with a finding that --select names.")
SELECT = typer.Option(
    "--select",
    metavar="CODES",
    help="With --all: CRY001, CRY, CPU001 ...",
    autocompletion=completers.selections,
)
CPU = typer.Option(
    "--cpu",
    metavar="CPU",
    help="host, x86-64-v3, Haswell-noTSX, custom-NAME, +aes, +aes,-x; for libvirt host-model or "
    "host-passthrough; recommended for the smallest that serves the guest's work.",
    autocompletion=completers.cpus,
)
ACK = typer.Option(
    "--ack",
    metavar="CODE",
    help="Take on what this rule says; may be given several times.",
    autocompletion=completers.codes,
)
DRY_RUN = typer.Option("--dry-run", help="Show the plan, and write nothing.")
DIFF = typer.Option("--diff", help="Show the plan as a patch, and write nothing.")
YES = typer.Option("--yes", help="Do not ask before it is done; takes on no constraint.")
WHEN_STOPPED = typer.Option("--when-stopped", help="Change only guests that are off.")
VERIFY = typer.Option(
    "--verify", help="With --restart: look into the guest again, and show what it sees now."
)
BENCH = typer.Option("--bench", help="With --verify: measure before and after.")
AUTO_UNDO = typer.Option(
    "--auto-undo", help="Take the change back where the guest does not come back with it."
)
FORMAT = typer.Option("--format", help="For people or for programs.")
OUTPUT = typer.Option(
    "--output", "-o", metavar="FILE", help="Write the report to a file, whole or not at all."
)


def run(  # noqa: PLR0913 - a command's options are its parameters
    *,
    target: Annotated[list[str] | None, collecting.TARGETS] = None,
    vm: Annotated[list[str] | None, VM] = None,
    every: Annotated[bool, ALL] = False,
    select: Annotated[list[str] | None, SELECT] = None,
    cpu: Annotated[str, CPU] = "",
    ack: Annotated[list[str] | None, ACK] = None,
    reason: Annotated[str, changing.REASON] = "",
    dry_run: Annotated[bool, DRY_RUN] = False,
    diff: Annotated[bool, DIFF] = False,
    yes: Annotated[bool, YES] = False,
    restart: Annotated[bool, changing.RESTART] = False,
    force_stop: Annotated[bool, changing.FORCE_STOP] = False,
    when_stopped: Annotated[bool, WHEN_STOPPED] = False,
    verify: Annotated[bool, VERIFY] = False,
    measure: Annotated[bool, BENCH] = False,
    auto_undo: Annotated[bool, AUTO_UNDO] = False,
    deadline: Annotated[float, changing.DEADLINE] = 180,
    keep_going: Annotated[bool, changing.KEEP_GOING] = False,
    form: Annotated[FixFormat, FORMAT] = FixFormat.TABLE,
    output: Annotated[Path | None, OUTPUT] = None,
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
    verbose: Annotated[bool, collecting.VERBOSE] = False,
) -> None:
    """Change the CPU of guests: a plan, its costs, the change, the proof.

    Without --ack for everything that the change costs the plan is shown and nothing is written.
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
        figures=figures,
        verbose=verbose,
    )
    orders = Orders(
        restart=restart,
        force_stop=force_stop,
        only_stopped=when_stopped,
        auto_undo=auto_undo,
        keep_going=keep_going,
        seconds_down=deadline,
        seconds_up=deadline,
        reason=reason,
    )
    output = None if output == files.STDOUT else output
    wants = Wants(Shown(form, output, diff), orders, dry_run or diff, yes, verify, measure)
    codes = _words(select)
    _check(cpu, vm or (), codes, wants, every=every)
    acks = _acks(ack)
    raise typer.Exit(_fixed(asked, cpu, (tuple(vm or ()), codes), acks, wants))


def _words(given: Sequence[str] | None) -> tuple[str, ...]:
    words = (word.strip().upper() for item in given or () for word in item.split(","))
    return tuple(dict.fromkeys(filter(None, words)))


def _acks(given: Sequence[str] | None) -> frozenset[str]:
    """Return the codes that are taken on.

    Raises:
        UsageError: There is no such rule.
    """
    codes = _words(given)
    known = {rule.code for rule in plugins.load("unmask.rules", "RULE", Rule)}
    for code in codes:
        if code not in known:
            raise UsageError(f"--ack {code}: there is no such rule; the plan has the codes")
    return frozenset(codes)


def _check(
    cpu: str, named: Sequence[str], codes: Sequence[str], wants: Wants, *, every: bool
) -> None:
    """Refuse options that do not go together.

    Raises:
        UsageError: They do not.
    """
    if not cpu.strip():
        raise UsageError("say what the guests are to have: --cpu host, +aes, recommended ...")
    if every == bool(named):
        raise UsageError("say which guests: --vm GUEST, or --all with --select CODES")
    if every != bool(codes):
        raise UsageError("--all and --select belong together: --all --select CRY001")
    if wants.verify and not wants.orders.restart:
        raise UsageError("--verify looks at what a restart has brought: add --restart")
    if wants.bench and not wants.verify:
        raise UsageError("--bench measures before and after: add --verify")
    if wants.orders.auto_undo and not wants.orders.restart:
        raise UsageError("--auto-undo is for a guest that does not come back: add --restart")
    if wants.orders.force_stop and not wants.orders.restart:
        raise UsageError("--force-stop is a part of a restart: add --restart")
    if wants.orders.only_stopped and wants.orders.restart:
        raise UsageError("--when-stopped and --restart exclude each other")


def _fixed(
    asked: Asked,
    cpu: str,
    which: tuple[Sequence[str], Sequence[str]],
    acks: frozenset[str],
    wants: Wants,
) -> int:
    """Plan, have it acknowledged, do it, show it, and return the exit code."""
    begun = started()
    where = fixing.site(asked, which[0])
    planner = Planner(where, cpu, acks, changing.opener(asked))
    with terminal.working(f"judging {len(where.inventory.guests)} guests"):
        wished = fixing.chosen(where, *which)
    if not wished:
        terminal.say(_nobody(which[1], where, looked=not asked.no_probe))
    planner.plans(wished)
    document = FixDocument(
        Run(__version__, begun, where.inventory.targets, not where.inventory.gaps),
        cpu,
        tuple(planner.made),
        tuple(planner.refused),
        ways=collecting.words(asked),
        gaps=_gaps(where, planner.made),
    )
    if wants.dry_run:
        wants.shown.show(document)
        return 0
    document, ready = settling.settled(document, where, wants)
    hindered = settling.hindered(where, ready, wants)
    if hindered:
        document, ready = replace(document, verdict=hindered), ()
    if not ready:
        changing.mention_unsettled()
        wants.shown.show(document)
        return 0 if not document.verdict else UsageError.exit_code
    return _done(document, planner, ready, wants)


def _nobody(codes: Sequence[str], where: Site, *, looked: bool) -> str:
    """Return that there is nothing to plan, and what may hide findings."""
    gaps = len({gap.subject for gap in where.inventory.gaps})
    unread = f", but {gaps} could not be read in full (unmask audit says what)" if gaps else ""
    blind = "" if looked else "; with --no-probe nobody has looked into them"
    return f"no guest has a finding of {', '.join(codes)}{unread}{blind}"


def _gaps(where: Site, plans: Sequence[Plan]) -> tuple[Gap, ...]:
    subjects = {plan.place.subject for plan in plans}
    return tuple(gap for gap in where.inventory.gaps if gap.subject in subjects)


def _done(document: FixDocument, planner: Planner, ready: Sequence[Plan], wants: Wants) -> int:
    """Make the changes, show what became of them, and return the exit code."""
    book = changing.book()
    recover.refuse_unsettled(book)
    wants.shown.begin(document)
    before = proving.measured(planner.where, ready) if wants.bench else None
    prover = proving.Prover(planner.where, wants.orders.seconds_up, before)
    hooks = Hooks(
        planner.open,
        recheck=planner.recheck,
        prepare=custom_model.make,
        verify=prover.verify if wants.verify else None,
        progress=changing.progress,
    )
    with book.begin(RunKind.FIX, wants.orders.reason) as writer, changing.told():
        outcomes = running.apply(ready, writer, book, hooks, wants.orders)
    terminal.progress("")
    results = tuple(_result(item, prover) for item in outcomes)
    with changing.reported(writer.ident):
        wants.shown.show(replace(document, results=results, run_id=writer.ident))
    return changing.exit_code(outcomes) or (changing.FAILED if document.refused else 0)


def _result(outcome: Outcome, prover: proving.Prover) -> Result:
    subject = outcome.plan.place.subject
    return Result(
        subject,
        outcome.phase.value,
        outcome.problem.rstrip("."),
        outcome.detail,
        prover.proofs.get(subject, ()),
    )
