"""From the command line of `unmask bench` to what is measured."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import typer

from unmask.benches import _dataset, bench
from unmask.benches._openssl import ALGORITHMS
from unmask.benches.bench import Effort, Job, Site, Wanted
from unmask.cli import choices, collecting, ssh
from unmask.cli.collecting import Asked
from unmask.config.settings import Settings, Target
from unmask.cpu import catalogue
from unmask.dialects.proxmox.cpu_option import CUSTOM
from unmask.errors import UsageError
from unmask.model.bench import PLAIN
from unmask.model.inventory import Inventory
from unmask.model.source import CollectOptions, Source
from unmask.report._known import near
from unmask.sources import ssh_guest

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,63}")
"""How algorithms and CPU models are spelled."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What the command line wants measured."""

    guests: tuple[str, ...]
    every: bool
    node: str
    models: tuple[str, ...]
    reference: bool
    wanted: Wanted
    endpoint: str = ""
    """A TLS server."""

    @property
    def asks_guests(self) -> bool:
        """Return whether guests of a hypervisor are to be measured."""
        return bool(self.guests) or self.every


def words(written: str) -> tuple[str, ...]:
    """Return the words of a list with commas.

    Raises:
        UsageError: One of them cannot be a name.
    """
    found = tuple(word.strip() for word in written.split(",") if word.strip())
    for word in found:
        if not NAME.fullmatch(word):
            raise UsageError(f"{word[:80]!r} is no name of an algorithm or of a CPU model")
    return found


def algorithms(written: str) -> tuple[str, ...]:
    """Return the algorithms to measure; the usual ones where none are named.

    Raises:
        UsageError: One of them cannot be a name.
    """
    return tuple(word.lower() for word in words(written)) or ALGORITHMS


def datasets(encrypted: str, beside: str) -> tuple[tuple[str, str], ...]:
    """Return the datasets to measure, each with its setting.

    Raises:
        UsageError: One of them cannot be a dataset, or the first is missing.
    """
    if beside and not encrypted:
        raise UsageError("--beside belongs to --dataset")
    found = [(encrypted, PLAIN), (beside, _dataset.UNENCRYPTED)]
    for name, _ in found:
        if name and not _dataset.NAME.fullmatch(name):
            raise UsageError(f"{name[:80]!r} is no name of a ZFS dataset")
    return tuple((name, setting) for name, setting in found if name)


def effort(*, quick: bool, thorough: bool) -> Effort:
    """Return how long to measure.

    Raises:
        UsageError: Both are wanted.
    """
    if quick and thorough:
        raise UsageError("--quick and --thorough exclude each other")
    if quick:
        return Effort.QUICK
    return Effort.THOROUGH if thorough else Effort.STANDARD


def jobs(asked: Asked, choice: Choice) -> tuple[Job, ...]:
    """Return what is to be measured.

    Raises:
        UsageError: Nothing was chosen, or something that is not there.
        TargetError: No target could be read.
    """
    _check(choice)
    settings, wanted = _targets(asked, choice)
    machines = [item for item in wanted if ssh_guest.fits(item.address)]
    hypervisors = [item for item in wanted if not ssh_guest.fits(item.address)]
    if hypervisors and not (choice.asks_guests or choice.node or choice.endpoint):
        raise UsageError("say what to measure there: --vm GUEST, --all or --node NODE")
    if choice.guests and not hypervisors:
        raise UsageError("--vm names guests of a hypervisor: name that as the target")
    options = collecting.options(asked, settings, wanted)
    found = [bench.machine(item.address, options(item.address), choice.wanted) for item in machines]
    sites = _sites(asked, settings, hypervisors)
    if choice.node:
        login = ssh.options(asked.key, asked.jump, accept_new=asked.accept_new_host_key)
        like = CollectOptions(timeout=asked.timeout, ssh=login)
        found.append(bench.node(sites, choice.node, choice.models, choice.wanted, like))
    found += bench.guests(sites, choice.guests, choice.wanted, every=choice.every)
    if choice.endpoint:
        found.append(bench.endpoint(choice.endpoint, choice.wanted))
    if choice.reference:
        nodes = [job.who.host for job in found if job.who.host]
        found += bench.reference(sites, nodes, choice.wanted)
    if not found:
        raise UsageError("there is nothing to measure: no guest runs there")
    return tuple(found)


def _check(choice: Choice) -> None:
    if choice.models and not choice.node:
        raise UsageError("--as measures a node: name it with --node")
    if choice.node and (choice.guests or choice.every):
        raise UsageError("--node measures a node instead of guests: leave out --vm and --all")
    if choice.guests and choice.every:
        raise UsageError("--vm and --all exclude each other")
    for name in choice.models:
        if not name.startswith(CUSTOM) and name not in _models():
            more = near(name, _models()) or "unmask models lists all"
            raise UsageError(f"--as {name}: there is no such CPU model; {more}")


def _models() -> tuple[str, ...]:
    """Return the names that `--as` may have, beside a cluster's own models."""
    proxmox = sorted({*catalogue.proxmox_names(), *catalogue.proxmox_cpu_names()})
    return ("host", "max", *proxmox, *catalogue.names())


def _targets(asked: Asked, choice: Choice) -> tuple[Settings, tuple[Target, ...]]:
    """Return the settings and the targets; a node or server with its own address needs none."""
    if (choice.node or choice.endpoint) and not asked.target and not choice.asks_guests:
        settings = choices.configuration(asked.config)
        return settings, settings.targets if choice.node else ()
    return collecting.chosen(asked)


def _sites(asked: Asked, settings: Settings, wanted: Sequence[Target]) -> list[Site]:
    """Read the targets without looking into their guests."""
    sites: list[Site] = []

    def note(source: Source, target: str, found: Inventory, options: CollectOptions) -> Inventory:
        if not source.live:
            raise UsageError(f"{target} is a copy of files: nothing in it can be measured")
        sites.append(Site(target, options, found))
        return found

    if wanted:
        options = collecting.options(asked, settings, wanted)
        read = collecting.read(wanted, options, note, verbose=asked.verbose)
        if read.nothing:
            raise typer.Exit(read.exit_code)  # what went wrong is said already
    return sites
