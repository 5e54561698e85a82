"""Two runs at once on one guest: one wins, the other is refused."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from support.changes import applied
from support.fake_target import FakeGuest, FakeTarget, InFile, place
from unmask.fixes import run
from unmask.fixes.journal import Journal
from unmask.fixes.run import Hooks, Orders
from unmask.model.change import Phase, Plan, Setting
from unmask.model.run import RunKind


def child(folder: Path, store: InFile, cpu: str, at: Callable[[str], None]) -> int:
    """Fork a run that was planned before it, and is told its points; return its process."""
    target = FakeTarget(store)
    plan = Plan(place(), cpu, target.read(), Setting(cpu))
    target.at = at
    process = os.fork()
    if process:
        return process
    code = 1
    try:
        book = Journal(folder)
        with book.begin(RunKind.FIX) as writer:
            run.apply([plan], writer, book, Hooks(lambda _: target), Orders())
        code = 0
    finally:
        os._exit(code)


def ended_well(process: int) -> bool:
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0


@pytest.mark.parametrize("_turn", range(10))
def test_one_wins(tmp_path: Path, _turn: int) -> None:
    store = InFile(tmp_path / "guest.json")
    store.save(FakeGuest())
    go, start = os.pipe()

    def together(point: str) -> None:
        if point == "read: before":
            os.read(go, 1)

    children = [child(tmp_path / "state", store, cpu, together) for cpu in ("host", "EPYC")]
    os.write(start, b"go, and there is enough for both")
    assert all(map(ended_well, children))
    os.close(go)
    os.close(start)
    ends = {found.guests[0].wish: found.guests[0] for found in Journal(tmp_path / "state").runs()}
    (winner,) = (wish for wish, guest in ends.items() if guest.phase is Phase.DONE)
    (loser,) = (guest for guest in ends.values() if guest.phase is Phase.REFUSED)
    assert store.load() == FakeGuest(cpu=winner)
    assert "another run of unmask" in loser.last.detail or "when this was" in loser.last.detail


def test_the_second_is_refused_while_the_first_is_in_its_middle(tmp_path: Path) -> None:
    store = InFile(tmp_path / "guest.json")
    store.save(FakeGuest())
    there, arrived = os.pipe()
    go, release = os.pipe()

    def wait(point: str) -> None:
        if point == "write: before":
            os.write(arrived, b".")
            os.read(go, 1)

    first = child(tmp_path / "state", store, "host", wait)
    os.read(there, 1)
    second = FakeTarget(store)
    plan = Plan(place(), "EPYC", second.read(), Setting("EPYC"))
    outcome = applied(tmp_path / "state", second, plan)
    assert (outcome.phase, second.calls) == (Phase.REFUSED, [])
    assert "another run of unmask is changing this guest" in outcome.problem
    os.write(release, b".")
    assert ended_well(first)
    assert store.load() == FakeGuest(cpu="host")
    for number in (there, arrived, go, release):
        os.close(number)
