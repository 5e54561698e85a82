"""What is measured: guests that were chosen, their nodes, and nodes as CPU models leave them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial

from unmask.benches import _guests, _machine, _nodes, _schedule, _tls, _what_if
from unmask.benches._door import Door, SshDoor
from unmask.benches._effort import Effort
from unmask.benches._machine import Subject, Wanted
from unmask.benches._plan import Run
from unmask.benches._schedule import Job, Outcome
from unmask.dialects.proxmox import custom_models
from unmask.dialects.proxmox.cpu_option import CUSTOM
from unmask.errors import UsageError
from unmask.model.bench import BenchResult, Tool
from unmask.model.cpu import CpuSpec, HostCpu
from unmask.model.inside import Inside
from unmask.model.inventory import Guest, Host, Inventory
from unmask.model.source import CollectOptions
from unmask.report._known import known
from unmask.sources import ssh_guest
from unmask.visits import _visit

__all__ = ["Effort", "Job", "Outcome", "Wanted", "run"]

ALL_SECONDS = 30.0
"""For logging in to a machine that is a target itself."""
CUSTOM_MODELS = "/etc/pve/virtual-guest/cpu-models.conf"
HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,252}")
run = _schedule.run


@dataclass(frozen=True, slots=True)
class Site:
    """A target with what was read of it."""

    target: str
    options: CollectOptions
    found: Inventory


def guests(
    sites: Sequence[Site], named: Sequence[str], wanted: Wanted, *, every: bool
) -> tuple[Job, ...]:
    """Return the jobs for guests, each once.

    Args:
        sites: Where to look for them.
        named: Their VMIDs, UUIDs, names or subjects.
        wanted: What to measure.
        every: All that can be measured, instead of those named.

    Raises:
        UsageError: A name fits no guest, or several.
    """
    jobs: dict[str, Job] = {}
    missing = list(dict.fromkeys(named))
    for word in missing:
        site, guest = _one(sites, word)
        jobs.setdefault(guest.subject, _job(site, guest, wanted))
    if every:
        for site in sites:
            for guest in site.found.guests:
                if not _guests.refusal(guest):
                    jobs.setdefault(guest.subject, _job(site, guest, wanted))
    return tuple(jobs.values())


def _one(sites: Sequence[Site], word: str) -> tuple[Site, Guest]:
    fitting = {
        guest.subject: (site, guest)
        for site in sites
        for guest in site.found.guests
        if word in (guest.ident, guest.name, guest.subject)
    }
    if len(fitting) == 1:
        return next(iter(fitting.values()))
    if not fitting:
        names = [guest.name or guest.ident for site in sites for guest in site.found.guests]
        raise UsageError(f"--vm {word}: there is no such guest; {known(word, names)}")
    raise UsageError(f"--vm {word}: several guests are called so: {', '.join(sorted(fitting))}")


def _job(site: Site, guest: Guest, wanted: Wanted) -> Job:
    who = Subject(guest.subject, guest.name, guest.host)

    def work() -> BenchResult:
        # What was enough for reading the target is not for a program that measures.
        options = replace(site.options, timeout=site.options.timeout + wanted.seconds)
        with ExitStack() as stack:
            channel = stack.enter_context(_visit.opened(site.target, site.found, options))
            root = bool(wanted.datasets)
            door = _guests.enter(stack, guest, channel, options, root=root)
            result = _machine.measure(door, who, wanted)
        place = replace(result.environment, accelerator=guest.accelerator)
        return replace(result, environment=place)

    return Job(who, work)


def machine(target: str, options: CollectOptions, wanted: Wanted) -> Job:
    """Return the job for one machine that is a target itself: ssh://[user@]HOST[:PORT]."""

    def work() -> BenchResult:
        with ssh_guest.enter(target, options, ALL_SECONDS) as entered:
            user = entered.session.login.user
            way = f"ssh {replace(entered.door, user=user)}"
            door = SshDoor(entered.session, way, sudo=entered.entry.sudo and bool(wanted.datasets))
            return _machine.measure(door, Subject(target, entered.name), wanted)

    return Job(Subject(target, target), work)


def endpoint(written: str, wanted: Wanted) -> Job:
    """Return the job for a TLS server: HOST:PORT[/PATH].

    Raises:
        UsageError: It is none.
    """
    found = _tls.parse(written)
    who = Subject(f"tls://{found.host}:{found.port}{found.path}")
    return Job(who, lambda: _tls.measure(found, who, wanted.effort))


def link(written: str) -> Run:
    """Return the run that measures a guest's way to an iperf3 server.

    Raises:
        UsageError: It is no host.
    """
    if not HOST.fullmatch(written):
        raise UsageError(f"--iperf3 {written[:80]!r} is no host")
    words = ("iperf3", "-c", written, "-t", "5", "-J")
    return Run(Tool.NETWORK, "link", words, seconds=20)


def reference(sites: Sequence[Site], results: Sequence[str], wanted: Wanted) -> Iterator[Job]:
    """Yield the jobs for nodes of guests that are measured: the ceiling for these.

    Args:
        sites: Where the nodes are.
        results: Subjects of nodes.
        wanted: What to measure.
    """
    for site in sites:
        for host in site.found.hosts:
            if host.subject in results:
                yield _of_node(site, host, wanted)


def _of_node(site: Site, host: Host, wanted: Wanted) -> Job:
    who = Subject(host.subject, host.name, host.subject)

    def work() -> BenchResult:
        with ExitStack() as stack:
            door = _nodes.of_target(stack, site.target, host.name, site.options)
            return _machine.measure(door, who, wanted)

    return Job(who, work)


Enter = Callable[[ExitStack], Door]


def node(
    sites: Sequence[Site],
    written: str,
    names: Sequence[str],
    wanted: Wanted,
    options: CollectOptions,
) -> Job:
    """Return the job for a node, as it is or as CPU models would leave it.

    Args:
        sites: Targets among whose nodes it may be.
        written: A node's name, an address ([user@]HOST[:PORT]), or "local" for this machine.
        names: CPU models to measure under; none for the usual benchmark.
        wanted: What to measure.
        options: How to log in to an address.
    """
    enter: Enter = partial(_nodes.by_address, written=written, options=options)
    who = Subject(written, written, written)
    custom: Mapping[str, CpuSpec] = {}
    for site in sites:
        for host in site.found.hosts:
            if written in (host.name, host.subject):
                enter = partial(
                    _nodes.of_target, target=site.target, name=host.name, options=site.options
                )
                who = Subject(host.subject, host.name, host.subject)
                custom = dict(_custom(site, host))

    def work() -> BenchResult:
        with ExitStack() as stack:
            door = enter(stack)
            if not names:
                return _machine.measure(door, who, wanted)
            return _as_models(door, who, names, wanted, custom)

    return Job(who, work)


def _as_models(
    door: Door,
    who: Subject,
    names: Sequence[str],
    wanted: Wanted,
    custom: Mapping[str, CpuSpec],
) -> BenchResult:
    """Measure a node under the masks of CPU models; the setting of a sample is the model's name."""
    doubts: list[str] = []

    def rounds(inside: Inside, measured: float) -> Sequence[Run]:
        version, host = _machine.openssl_version(inside), inside.cpu.value
        own = custom or _read_custom(door, names, host)
        found = _what_if.models(names, host, version, own)
        doubts.extend(_what_if.doubts(found))
        return tuple(_what_if.runs(found, version, wanted.algorithms, measured))

    result = _machine.measure(door, who, wanted, rounds)
    method = f"{wanted.effort.value} what-if"
    return replace(result, method=method, problems=(*result.problems, *doubts))


def _custom(site: Site, host: Host) -> Iterator[tuple[str, CpuSpec]]:
    """Yield the custom models of a host's cluster."""
    for cluster in site.found.clusters:
        if cluster.subject == host.cluster:
            yield from cluster.custom_models


def _read_custom(door: Door, names: Sequence[str], host: HostCpu) -> Mapping[str, CpuSpec]:
    """Return the custom models that the node itself has, where one of them is named."""
    if not any(name.startswith(CUSTOM) for name in names):
        return {}
    text = _machine.read_file(door, CUSTOM_MODELS, custom_models.LIMIT)
    return _what_if.custom_models(text, host)
