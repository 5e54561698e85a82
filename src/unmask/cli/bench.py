"""`unmask bench`: the options, and the order in which the parts do their work."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from unmask import __version__
from unmask.benches import bench
from unmask.benches.bench import Outcome
from unmask.cli import (
    access,
    collecting,
    completers,
    files,
    guests,
    measuring,
    pasted,
    ssh,
    terminal,
)
from unmask.cli.collecting import Asked
from unmask.cli.measuring import Choice
from unmask.cli.started import started
from unmask.dialects import saved_bench
from unmask.errors import InputError, UsageError
from unmask.measure.compare import Limits, link_limit
from unmask.model.bench import BenchResult, Ended
from unmask.model.source import Interrupted
from unmask.report._bench import document, table
from unmask.report._bench import json as report
from unmask.report._paint import Paint


class BenchFormat(StrEnum):
    """How a benchmark is shown."""

    TABLE = "table"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class Shown:
    """Where the report goes, and as what."""

    form: BenchFormat
    output: Path | None
    started: str

    def show(self, results: Sequence[BenchResult], wanted: document.Asked) -> None:
        """Write or print the report on results."""
        said = document.build(results, wanted, version=__version__, started=self.started)
        if self.form is BenchFormat.JSON:
            text = report.render(said)
        else:
            paint = Paint(not self.output and terminal.colours(os.environ))
            text = table.render(said, terminal.width(os.environ), paint)
        if self.output:
            files.write(self.output, text)
        else:
            terminal.put(text)


VM = typer.Option(
    "--vm", metavar="GUEST", help="A guest's VMID, UUID or name; may be given several times."
)
ALL = typer.Option("--all", help="Every guest that runs.")
QUICK = typer.Option("--quick", help="Under 20 seconds a guest.")
THOROUGH = typer.Option("--thorough", help="Some four minutes a guest, for small differences.")
ALGORITHMS = typer.Option(
    "--algorithms", metavar="NAMES", help="With commas, as `openssl speed -evp` takes them."
)
NODE = typer.Option(
    "--node",
    metavar="NODE",
    help="Measure a node instead of guests: its name, [user@]HOST for SSH, or local.",
)
AS = typer.Option(
    "--as",
    metavar="MODELS",
    help="Measure the node as guests of these CPU models would see it: kvm64,x86-64-v3,host.",
    autocompletion=completers.listed_models,
)
READ = typer.Option(
    "--read",
    metavar="FILE",
    help="Judge output that somebody pasted, and measure nothing.",
)
MASKED = typer.Option("--masked", metavar="FILE", help="With --read: the same, masked.")
FORCED = typer.Option("--forced", metavar="FILE", help="With --read: the same, forced.")
COMPARE_WITH = typer.Option(
    "--compare-with", metavar="FILE", help="With --read: earlier output of the same machine."
)
LINK = typer.Option(
    "--link", metavar="GBIT", min=0.001, max=10000, help="With --compare: the network's speed."
)
ADVISE = typer.Option(
    "--advise", help="Show what can be done inside guests whose hypervisor cannot be changed."
)
DATASET = typer.Option(
    "--dataset",
    metavar="DATASET",
    help="Write a file on this encrypted ZFS dataset of the guest, and remove it.",
)
BESIDE = typer.Option(
    "--beside", metavar="DATASET", help="With --dataset: the same on an unencrypted one."
)
TLS = typer.Option(
    "--tls",
    metavar="HOST:PORT/PATH",
    help="Ask this server from here, 10 times at once; for a file of 400 KB or so.",
)
IPERF3 = typer.Option(
    "--iperf3", metavar="HOST", help="Measure the guest's way to this iperf3 server too."
)
REFERENCE = typer.Option("--reference", help="Measure the guests' nodes too, as their ceiling.")
SAVE = typer.Option("--save", metavar="FILE", help="Save the results, with all that was printed.")
COMPARE = typer.Option("--compare", metavar="FILE", help="Compare with results that were saved.")
FORMAT = typer.Option("--format", help="For people or for programs.")
OUTPUT = typer.Option(
    "--output", "-o", metavar="FILE", help="Write the report to a file, whole or not at all."
)


def run(  # noqa: PLR0913 - a command's options are its parameters
    *,
    target: Annotated[list[str] | None, collecting.TARGETS] = None,
    vm: Annotated[list[str] | None, VM] = None,
    every: Annotated[bool, ALL] = False,
    quick: Annotated[bool, QUICK] = False,
    thorough: Annotated[bool, THOROUGH] = False,
    algorithms: Annotated[str, ALGORITHMS] = "",
    node: Annotated[str, NODE] = "",
    models: Annotated[str, AS] = "",
    dataset: Annotated[str, DATASET] = "",
    beside: Annotated[str, BESIDE] = "",
    tls: Annotated[str, TLS] = "",
    iperf3: Annotated[str, IPERF3] = "",
    read: Annotated[Path | None, READ] = None,
    masked: Annotated[Path | None, MASKED] = None,
    forced: Annotated[Path | None, FORCED] = None,
    compare_with: Annotated[Path | None, COMPARE_WITH] = None,
    reference: Annotated[bool, REFERENCE] = False,
    advise: Annotated[bool, ADVISE] = False,
    link: Annotated[float | None, LINK] = None,
    save: Annotated[Path | None, SAVE] = None,
    compare: Annotated[Path | None, COMPARE] = None,
    form: Annotated[BenchFormat, FORMAT] = BenchFormat.TABLE,
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
    via: Annotated[list[str] | None, guests.VIA] = None,
    guest_user: Annotated[str, guests.USER] = "",
    guest_key: Annotated[Path | None, guests.KEY] = None,
    verbose: Annotated[bool, collecting.VERBOSE] = False,
) -> None:
    """Measure the cryptography of guests, and say why it is as fast as it is."""
    begun = started()
    files.check_save(save, [output])
    shown = Shown(form, output, begun)
    wanted = document.Asked(
        before=_saved(compare) if compare else (),
        limits=Limits(link=link_limit(link)) if link else None,
        advise=advise,
    )
    if pasted.wanted(read, masked, forced, compare_with):
        results, before = pasted.read(read, masked, forced, compare_with)
        _save(save, results)
        shown.show(results, replace(wanted, before=(*before, *wanted.before)))
        raise typer.Exit(0 if any(map(_measured, results)) else 3)
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
        via=via,
        guest_user=guest_user,
        guest_key=guest_key,
        verbose=verbose,
    )
    choice = Choice(
        guests=tuple(vm or ()),
        every=every,
        node=node,
        models=measuring.words(models),
        reference=reference,
        wanted=bench.Wanted(
            measuring.effort(quick=quick, thorough=thorough),
            measuring.algorithms(algorithms),
            datasets=measuring.datasets(dataset, beside),
            extra=(bench.link(iperf3),) if iperf3 else (),
            services=advise,
        ),
        endpoint=tls,
    )
    jobs = measuring.jobs(asked, choice)
    outcome = bench.run(jobs, parallel, terminal.progress)
    _save(save, outcome.results)
    shown.show(outcome.results, wanted)
    raise typer.Exit(_exit_code(outcome, len(jobs)))


def _saved(path: Path) -> tuple[BenchResult, ...]:
    """Return the results in a file.

    Raises:
        UsageError: It cannot be read, or does not hold any.
    """
    try:
        found = saved_bench.load(files.read(path, saved_bench.LIMIT))
    except InputError as error:
        raise UsageError(f"{path}: {error}") from error
    if not found:
        raise UsageError(f"{path}: holds no results: compare with a file that holds some")
    return found


def _save(path: Path | None, results: Sequence[BenchResult]) -> None:
    if path:
        files.write(path, saved_bench.dump(tuple(results)), files.PRIVATE)


def _exit_code(outcome: Outcome, jobs: int) -> int:
    """Return 0, 3 where a machine could not be measured, 130 where Ctrl-C ended it."""
    if outcome.interrupted:
        terminal.say(
            f"interrupted: {len(outcome.results)} of {jobs} were measured; what still runs in a "
            "guest by its guest agent ends by itself"
        )
        return Interrupted.exit_code
    return 0 if sum(map(_measured, outcome.results)) == jobs else 3


def _measured(result: BenchResult) -> bool:
    """Return whether anything came of it; that the silicon lacks an instruction is a result."""
    return any(one.rate is not None or one.ended is Ended.ILLEGAL for one in result.samples)
