"""Which ways into a guest are tried, what becomes of those that are shut, and what costs whom."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import pytest

from support.documents import lab
from unmask.model.disk import Disk
from unmask.model.entry import GuestEntry, VisitOptions
from unmask.model.inside import Inside
from unmask.model.inventory import Guest, GuestKind, GuestState, Inventory
from unmask.model.reading import Known, Reading
from unmask.model.source import CollectOptions, Interrupted
from unmask.model.visit import Attempt, Way
from unmask.visits import _agent, _net, _ssh, _visit
from unmask.visits._channel import Channel, Hypervisor, NoWayError

INSIDE = Inside(root=True)
DISKS = (Disk("scsi0"),)


@dataclass
class Hosts:
    """A hypervisor of the tests; each of its answers can be replaced."""

    agent_of: Callable[[Guest], None] = lambda _: None
    addresses_of: Callable[[Guest], tuple[str, ...]] = lambda _: ("192.0.2.7",)
    disks_of: Callable[[Guest], Reading[tuple[Disk, ...]]] = lambda _: Known(DISKS)
    asked: list[str] = field(default_factory=list)

    def agent(self, guest: Guest) -> object:
        self.asked.append(f"agent {guest.ident}")
        self.agent_of(guest)
        return object()

    def addresses(self, guest: Guest) -> tuple[str, ...]:
        self.asked.append(f"addresses {guest.ident}")
        return self.addresses_of(guest)

    def disks(self, guest: Guest, seconds: float) -> Reading[tuple[Disk, ...]]:
        assert 0 < seconds <= 5
        self.asked.append(f"disks {guest.ident}")
        return self.disks_of(guest)


@pytest.fixture(autouse=True)
def doors(monkeypatch: pytest.MonkeyPatch) -> dict[str, Exception | None]:
    """Stand for what is behind the ways; an entry that is an exception is raised there."""
    behind: dict[str, Exception | None] = {"agent": None, "ssh": None}

    def answer(way: str, by: str) -> tuple[Inside, str]:
        error = behind[way]
        if error:
            raise error
        return INSIDE, by

    monkeypatch.setattr(_agent, "look", lambda *_: answer("agent", "the guest agent"))
    monkeypatch.setattr(_ssh, "look", lambda address, *_: answer("ssh", f"root@{address}"))
    monkeypatch.setattr(_net, "ports", lambda _: ())
    monkeypatch.setattr(_net, "endpoints", lambda *_: ())
    return behind


def one(state: GuestState = GuestState.RUNNING, number: int = 1) -> Inventory:
    guest = replace(lab().guests[0], state=state, template=False, kind=GuestKind.VM)
    guests = tuple(
        replace(guest, subject=f"lab/{index}", ident=str(index)) for index in range(number)
    )
    return Inventory(targets=("t",), guests=guests)


def look(
    found: Inventory,
    hosts: Hosts,
    ways: Sequence[Way] = tuple(Way),
    entry: GuestEntry | None = None,
    asked: Sequence[Way] = (),
    seconds: float = 5,
) -> Inventory:
    @contextmanager
    def opened(*_: object) -> Iterator[Channel]:
        yield hosts  # type: ignore[misc]

    visits = VisitOptions(
        tuple(ways),
        frozenset(asked),
        seconds,
        (lambda _: entry) if entry else lambda _: GuestEntry(),
    )
    options = CollectOptions(workers=4, visits=visits)
    return _visit.visit("t", found, options, [Hypervisor("t", lambda _: True, opened)])


def test_the_agent_comes_first_and_ssh_is_not_tried_after_it() -> None:
    hosts = Hosts()
    got = look(one(), hosts).guests[0].visit
    assert (got.inside, got.way, got.by) == (Known(INSIDE), Way.AGENT, "the guest agent")
    assert got.disks == Known(DISKS)
    assert got.attempts == ()
    assert hosts.asked == ["addresses 0", "agent 0", "disks 0"]


def test_a_shut_door_is_an_attempt_and_the_next_way_is_taken(
    doors: dict[str, Exception | None],
) -> None:
    doors["agent"] = NoWayError("the agent does not run", "the package qemu-guest-agent")
    found = look(one(), Hosts(), entry=GuestEntry(told=True))
    got = found.guests[0].visit
    assert (got.way, got.by) == (Way.SSH, "root@192.0.2.7")
    expected = Attempt(Way.AGENT, "the agent does not run", "the package qemu-guest-agent")
    assert got.attempts == (expected,)
    assert found.gaps == ()


def test_ssh_is_not_tried_where_no_login_is_told_and_nobody_asked_for_it(
    doors: dict[str, Exception | None],
) -> None:
    doors["agent"] = NoWayError("the agent does not run")
    found = look(one(), Hosts())
    assert found.guests[0].visit.way is None
    [gap] = found.gaps
    assert gap.subject == "lab/0"
    assert gap.reason == (
        "not entered: by its guest agent: the agent does not run; by SSH: no login is known"
    )
    assert gap.needs == "--guest-user, or [guests] in the configuration"


def test_ssh_is_tried_where_it_was_named(doors: dict[str, Exception | None]) -> None:
    doors["agent"] = NoWayError("the agent does not run")
    assert look(one(), Hosts(), asked=[Way.SSH]).guests[0].visit.way is Way.SSH


def test_every_address_is_tried_and_each_refusal_is_kept(
    doors: dict[str, Exception | None],
) -> None:
    doors["ssh"] = NoWayError("refused")
    hosts = Hosts(addresses_of=lambda _: tuple(f"192.0.2.{index}" for index in range(9)))
    got = look(one(), hosts, [Way.SSH], GuestEntry(told=True)).guests[0].visit
    assert len(got.attempts) == 4
    assert {attempt.way for attempt in got.attempts} == {Way.SSH}


def test_an_address_of_the_configuration_beats_what_the_hypervisor_tells() -> None:
    hosts = Hosts()
    entry = GuestEntry(address="nas.example", told=True)
    got = look(one(), hosts, [Way.SSH], entry).guests[0].visit
    assert got.by == "root@nas.example"
    assert hosts.asked == []


def test_a_stopped_guest_has_its_disks_read_and_is_not_entered() -> None:
    hosts = Hosts()
    found = look(one(GuestState.STOPPED), hosts)
    got = found.guests[0].visit
    assert (got.way, got.disks) == (None, Known(DISKS))
    assert hosts.asked == ["disks 0"]
    assert found.gaps == ()


def test_a_stopped_guest_whose_disks_cannot_be_read_is_a_gap() -> None:
    def refuse(_: Guest) -> Reading[tuple[Disk, ...]]:
        raise NoWayError("the API shows no sectors", "pve+ssh://")

    [gap] = look(one(GuestState.STOPPED), Hosts(disks_of=refuse)).gaps
    assert gap.reason == (
        "what is encrypted there is not known: on its disks: the API shows no sectors"
    )
    assert gap.needs == "pve+ssh://"


def test_a_guest_of_which_nobody_knows_whether_it_runs_is_a_gap_that_says_so() -> None:
    [gap] = look(one(GuestState.UNKNOWN), Hosts()).gaps
    assert "by its guest agent: whether it runs is not known" in gap.reason


def test_containers_and_templates_are_left_alone() -> None:
    hosts = Hosts()
    guest = one().guests[0]
    inventory = Inventory(
        guests=(
            replace(guest, subject="a", kind=GuestKind.CONTAINER),
            replace(guest, subject="b", template=True),
        )
    )
    assert look(inventory, hosts) == inventory
    assert hosts.asked == []


def test_the_ways_of_one_guest_can_be_restricted() -> None:
    hosts = Hosts()
    got = look(one(), hosts, entry=GuestEntry(ways=(Way.DISK,))).guests[0].visit
    assert hosts.asked == ["disks 0"]
    assert got.way is None


def test_a_bug_in_one_guest_costs_the_others_nothing() -> None:
    def break_first(guest: Guest) -> None:
        if guest.ident == "0":
            raise ZeroDivisionError

    found = look(one(number=3), Hosts(agent_of=break_first))
    assert [guest.visit.way for guest in found.guests] == [None, Way.AGENT, Way.AGENT]
    assert "a bug in unmask (ZeroDivisionError)" in found.gaps[0].reason


def test_a_hypervisor_that_is_shut_is_the_reason_for_every_guest() -> None:
    def refuse(*_: object) -> None:
        raise NoWayError("it went away")

    options = CollectOptions(visits=VisitOptions((Way.AGENT,), seconds=5))
    shut = Hypervisor("t", lambda _: True, refuse)  # type: ignore[arg-type]
    found = _visit.visit("t", one(number=2), options, [shut])
    assert {gap.reason for gap in found.gaps} == {"not entered: by its guest agent: it went away"}


def test_ctrl_c_keeps_what_was_learnt(monkeypatch: pytest.MonkeyPatch) -> None:
    done = threading.Event()

    def second_hangs(guest: Guest) -> None:
        if guest.ident == "1":
            done.wait(60)

    def press(_: object, number: int) -> None:
        if number:
            raise KeyboardInterrupt

    monkeypatch.setattr(_visit._Progress, "__call__", press)
    with pytest.raises(Interrupted) as stopped:
        look(one(number=2), Hosts(agent_of=second_hangs))
    done.set()
    found = stopped.value.inventory
    assert [guest.visit.way for guest in found.guests] == [Way.AGENT, None]
    assert found.gaps[0].reason == "nobody looked inside: reading was interrupted before it"


def test_what_was_learnt_before_a_way_hangs_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    over = threading.Event()

    def hang(_: Guest) -> Reading[tuple[Disk, ...]]:
        over.wait(60)
        return Known(())

    monkeypatch.setattr(_visit, "GRACE", 0.1)
    got = look(one(), Hosts(disks_of=hang), seconds=0.3).guests[0].visit
    over.set()
    assert got.way is Way.AGENT
    assert [(attempt.way, attempt.reason) for attempt in got.attempts] == [
        (Way.DISK, "it did not end in time")
    ]
