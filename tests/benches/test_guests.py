"""The ways into guests: which is taken, and why none leads in."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from support import sshd
from support.bench_shell import SPEED
from support.sshd import Client
from unmask.benches import _guests, _machine, bench
from unmask.benches._door import AgentDoor, SshDoor
from unmask.benches._effort import Effort
from unmask.benches._machine import NO_OPENSSL, Subject, Wanted
from unmask.benches.bench import Site
from unmask.errors import TargetError, UsageError
from unmask.model.cpu import Accelerator, CpuSpec, Mode, Origin
from unmask.model.disk import Disk
from unmask.model.entry import GuestEntry, VisitOptions
from unmask.model.inventory import Guest, GuestKind, GuestState, Inventory, Platform
from unmask.model.reading import Missing, Reading
from unmask.model.source import CollectOptions
from unmask.model.ssh import SshOptions
from unmask.model.visit import Way
from unmask.visits._channel import NoWayError

GUEST = Guest(
    subject="lab/101",
    ident="101",
    name="web",
    platform=Platform.PROXMOX,
    kind=GuestKind.VM,
    host="lab/pve1",
    state=GuestState.RUNNING,
    arch="x86_64",
    accelerator=Accelerator.KVM,
    configured=CpuSpec("kvm64", Origin.CONFIG, Mode.MODEL, "kvm64", "kvm64"),
)


@dataclass
class Agent:
    """A guest agent that runs programs on this machine."""

    name: str = "debian"

    def system(self) -> str:
        return self.name

    def run(self, argv: Sequence[str], stdin: bytes, seconds: float, limit: int) -> bytes:
        done = subprocess.run(
            list(argv), input=stdin, stdout=subprocess.PIPE, timeout=seconds, check=False
        )
        return done.stdout[:limit]


@dataclass
class Channel:
    """A hypervisor with that agent, or none."""

    found: Agent | None = None
    known: tuple[str, ...] = ()

    def agent(self, guest: Guest) -> Agent:  # noqa: ARG002
        if self.found is None:
            raise NoWayError("it has no agent", "qemu-guest-agent in the guest")
        return self.found

    def addresses(self, guest: Guest) -> tuple[str, ...]:  # noqa: ARG002
        return self.known

    def disks(
        self,
        guest: Guest,  # noqa: ARG002
        seconds: float,  # noqa: ARG002
    ) -> Reading[tuple[Disk, ...]]:
        return Missing("not asked")


def options(entry: GuestEntry | None = None, *ways: Way) -> CollectOptions:
    def say(_: Guest) -> GuestEntry:
        return entry or GuestEntry()

    return CollectOptions(visits=VisitOptions(ways or (Way.AGENT, Way.SSH), entry=say))


def enter(guest: Guest, channel: Channel, wanted: CollectOptions) -> object:
    with ExitStack() as stack:
        return _guests.enter(stack, guest, channel, wanted)


def test_without_a_login_the_agent_is_taken() -> None:
    assert isinstance(enter(GUEST, Channel(Agent()), options()), AgentDoor)


@pytest.mark.peer
def test_with_a_login_ssh_is_taken(tmp_path: Path) -> None:
    user = sshd.client(tmp_path / "client")
    with sshd.running(tmp_path / "server", user) as server:
        user.knows(server)
        entry = _entry(user, server.port)
        door = enter(GUEST, Channel(Agent()), options(entry))
    assert isinstance(door, SshDoor)
    assert door.way == f"ssh {server.place}"
    assert door.held


def _entry(user: Client, port: int) -> GuestEntry:
    return GuestEntry(address="127.0.0.1", port=port, user=sshd.USER, ssh=user.options(), told=True)


def test_where_ssh_lets_nobody_in_the_agent_is_taken() -> None:
    entry = GuestEntry(address="127.0.0.1", port=1, ssh=SshOptions(), told=True)
    assert isinstance(enter(GUEST, Channel(Agent()), options(entry)), AgentDoor)


@pytest.mark.parametrize(
    ("change", "channel", "ways", "said"),
    [
        ({"state": GuestState.STOPPED}, Channel(Agent()), (), "it is stopped"),
        ({"template": True}, Channel(Agent()), (), "it is a template"),
        ({"kind": GuestKind.CONTAINER}, Channel(Agent()), (), "measure the node"),
        ({}, Channel(), (), "by SSH: no login is known .*by its guest agent: it has no agent"),
        ({}, Channel(Agent("mswindows")), (), "it runs Windows"),
        ({}, Channel(Agent()), (Way.SSH,), "by SSH: no login is known"),
        ({}, Channel(Agent()), (Way.DISK,), "neither SSH nor the guest agent is allowed"),
    ],
)
def test_why_no_way_leads_in(
    change: dict[str, object], channel: Channel, ways: tuple[Way, ...], said: str
) -> None:
    with pytest.raises(TargetError, match=said):
        enter(replace(GUEST, **change), channel, options(None, *ways))  # type: ignore[arg-type]


def test_through_the_agent_the_whole_benchmark_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _program(tmp_path, monkeypatch, f'[ "$1" = version ] && echo "LibreSSL 3.8.2" && exit\n{SPEED}')
    wanted = Wanted(Effort.QUICK, ("aes-256-gcm",), kernel=False)
    result = _machine.measure(AgentDoor(Agent()), Subject("lab/101", "web", "lab/pve1"), wanted)
    assert result.way == "the guest agent"
    assert len(result.samples) == 3
    assert result.problems == ()
    assert result.environment.openssl.value.version == "LibreSSL 3.8.2"


def test_a_machine_without_openssl_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _program(tmp_path, monkeypatch, "exit 127")
    wanted = Wanted(Effort.QUICK, kernel=False)
    result = _machine.measure(AgentDoor(Agent()), Subject("lab/101"), wanted)
    assert result.samples == ()
    assert result.problems == (NO_OPENSSL,)


def test_an_agent_that_answers_with_nothing_is_an_error() -> None:
    class Silent(Agent):
        def run(self, *_: object) -> bytes:
            return b""

    with pytest.raises(NoWayError, match="nothing that could be read"):
        _machine.measure(AgentDoor(Silent()), Subject("lab/101"), Wanted(Effort.QUICK))


def _program(place: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    path = place / "openssl"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{place}:{os.environ['PATH']}")


# --- Which guests are measured --------------------------------------------------------------------


def sites(*guests: Guest) -> list[Site]:
    return [Site("pve://x", options(), Inventory(guests=guests))]


@pytest.mark.parametrize("word", ["101", "web", "lab/101"])
def test_a_guest_is_named_in_three_ways(word: str) -> None:
    (job,) = bench.guests(sites(GUEST), (word, "web"), Wanted(), every=False)
    assert (job.who.subject, job.who.name, job.who.host) == ("lab/101", "web", "lab/pve1")


def test_a_name_that_fits_none_or_several_is_refused() -> None:
    other = replace(GUEST, subject="lab/102", ident="102")
    pick: Callable[[str], object] = lambda word: bench.guests(  # noqa: E731
        sites(GUEST, other), (word,), Wanted(), every=False
    )
    with pytest.raises(UsageError, match="--vm 7: there is no such guest"):
        pick("7")
    with pytest.raises(UsageError, match="several guests are called so: lab/101, lab/102"):
        pick("web")


def test_all_are_those_that_can_be_measured() -> None:
    stopped = replace(GUEST, subject="lab/102", state=GuestState.STOPPED)
    container = replace(GUEST, subject="lab/200", kind=GuestKind.CONTAINER)
    template = replace(GUEST, subject="lab/900", template=True)
    found = bench.guests(sites(GUEST, stopped, container, template), (), Wanted(), every=True)
    assert [job.who.subject for job in found] == ["lab/101"]
