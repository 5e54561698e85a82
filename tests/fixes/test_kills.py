"""Killed anywhere, a run leaves guests that are old or new, and a journal that says which."""

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from support import kill_points
from support.fake_target import FakeGuest, FakeTarget, InFile, place
from unmask.errors import TargetError
from unmask.fixes import recover, run, undo
from unmask.fixes._target import Target
from unmask.fixes.journal import Journal
from unmask.fixes.recover import Ways
from unmask.fixes.run import Hooks, Orders
from unmask.model.change import Phase, Place, Plan, Setting
from unmask.model.run import GuestRun, RunKind, Verdict

PARTS = ("unmask/fixes/", "support/fake_target")
POINTS = 200
OLD, NEW = "kvm64", "host"


class Site:
    """Two guests in files, the journals beside them, and what is done with them."""

    def __init__(self, folder: Path, *, sticks: bool = True, comes_back: bool = True) -> None:
        self.comes_back = comes_back
        self.folder = folder
        self.book = Journal(folder / "state")
        self.sticks = sticks
        self.guests = {ident: InFile(folder / f"{ident}.json") for ident in ("101", "102")}

    def clean(self) -> None:
        """Bring everything to where it was at first."""
        for path in (self.folder / "state" / "runs").glob("*"):
            path.unlink()
        for store in self.guests.values():
            store.save(FakeGuest(cpu=OLD))

    def open(self, where: Place) -> Target:
        def keep(value: str | None) -> str | None:
            return value if self.sticks or value != NEW else "made up"

        return FakeTarget(self.guests[where.ident], keep=keep)

    def verify(self, _plan: Plan) -> str:
        if not self.comes_back:
            raise TargetError("the agent did not answer")
        return "aes"

    def fix(self) -> None:
        plans = []
        for ident in self.guests:
            target = self.open(place(ident))
            plans.append(Plan(place(ident), NEW, target.read(), Setting(NEW)))
        with self.book.begin(RunKind.FIX) as writer:
            hooks = Hooks(self.open, verify=self.verify)
            orders = Orders(restart=True, auto_undo=True, keep_going=True)
            run.apply(plans, writer, self.book, hooks, orders)

    def lines_of_fix(self) -> int:
        """Return at how many lines a fix can be killed, once the directories are there."""
        self.clean()
        self.fix()
        self.clean()
        return kill_points.fork(self.fix, PARTS, 0, self.folder)

    def undo(self) -> None:
        (first,) = self.book.runs()
        plans = undo.plan(first, [first], (), self.open).plans
        with self.book.begin(RunKind.UNDO, undoes=first.ident) as writer:
            run.apply(plans, writer, self.book, Hooks(self.open), Orders(restart=True))

    def recover(self, *, finish_undo: bool = False) -> None:
        ways = Ways(self.open, finish_undo, patience=0)
        recover.recover(self.book, ways)


def held(site: Site, ident: str, journaled: GuestRun | None, start: str) -> Verdict:
    """Hold a guest against its journal, and return which of the two it has."""
    guest = site.guests[ident].load()
    began = FakeGuest(cpu=start)
    assert replace(guest, cpu=None, running=True, cpu_of_process=None) == replace(
        began, cpu=None, cpu_of_process=None
    )
    if journaled is None:  # it had not even written down what it was for
        assert guest.cpu == start
        return Verdict.OLD
    assert journaled.settled
    expected = journaled.after.value if journaled.new else journaled.before.value
    assert guest.cpu == expected, (journaled.phase, journaled.last)
    return Verdict.NEW if journaled.new else Verdict.OLD


def of_last_run(site: Site, kind: RunKind, ident: str) -> GuestRun | None:
    for found in reversed(site.book.runs()):
        if found.kind is kind:
            return next((guest for guest in found.guests if guest.place.ident == ident), None)
    return None


@pytest.mark.parametrize("seed", [1, 2])
def test_a_fix_killed_anywhere(tmp_path: Path, seed: int) -> None:
    site = Site(tmp_path)
    lines = site.lines_of_fix()
    seen: set[tuple[Verdict, ...]] = set()
    killed = 0
    for line in kill_points.points(lines, POINTS, seed):
        site.clean()
        killed += not kill_points.fork(site.fix, PARTS, line, tmp_path)
        site.recover()
        recover.refuse_unsettled(site.book)
        seen.add(
            tuple(
                held(site, ident, of_last_run(site, RunKind.FIX, ident), OLD)
                for ident in site.guests
            )
        )
    assert killed == min(POINTS, lines)
    both = (Verdict.OLD, Verdict.OLD), (Verdict.NEW, Verdict.OLD), (Verdict.NEW, Verdict.NEW)
    assert seen == set(both)


def test_an_undo_killed_anywhere(tmp_path: Path) -> None:
    site = Site(tmp_path)
    site.clean()
    site.fix()
    journal_of_fix = next((tmp_path / "state" / "runs").iterdir())
    text = journal_of_fix.read_bytes()
    guest = site.guests["101"].load()
    seen: set[Verdict] = set()
    lines = kill_points.fork(site.undo, PARTS, 0, tmp_path)
    for line in kill_points.points(lines, POINTS, 3):
        site.clean()
        journal_of_fix.write_bytes(text)
        for store in site.guests.values():
            store.save(guest)
        assert kill_points.fork(site.undo, PARTS, line, tmp_path) == 0
        site.recover()
        recover.refuse_unsettled(site.book)
        for ident in site.guests:
            seen.add(held(site, ident, of_last_run(site, RunKind.UNDO, ident), NEW))
    assert seen == {Verdict.OLD, Verdict.NEW}


def test_a_change_that_does_not_stick_killed_anywhere(tmp_path: Path) -> None:
    """What the hypervisor made of it is neither; only the undo that began can be finished."""
    site = Site(tmp_path, sticks=False)
    lines = site.lines_of_fix()
    for line in kill_points.points(lines, POINTS, 4):
        site.clean()
        assert kill_points.fork(site.fix, PARTS, line, tmp_path) == 0
        site.recover(finish_undo=True)
        recover.refuse_unsettled(site.book)
        for ident in site.guests:
            found = of_last_run(site, RunKind.FIX, ident)
            now = site.guests[ident].load().cpu
            if now == "made up":  # killed before it could write down that this is of its making
                assert found
                assert found.last.verdict is Verdict.OTHER
                assert found.events[-2].phase is Phase.WRITING
            else:
                assert now == OLD
                assert held(site, ident, found, OLD) is Verdict.OLD


def test_a_guest_that_does_not_come_back_killed_anywhere(tmp_path: Path) -> None:
    site = Site(tmp_path, comes_back=False)
    seen: set[Verdict] = set()
    for line in kill_points.points(site.lines_of_fix(), POINTS, 5):
        site.clean()
        assert kill_points.fork(site.fix, PARTS, line, tmp_path) == 0
        site.recover(finish_undo=bool(line % 2))
        recover.refuse_unsettled(site.book)
        for ident in site.guests:
            seen.add(held(site, ident, of_last_run(site, RunKind.FIX, ident), OLD))
    assert seen == {Verdict.OLD, Verdict.NEW}


def test_recover_killed_anywhere_can_be_started_again(tmp_path: Path) -> None:
    site = Site(tmp_path)
    for line in range(site.lines_of_fix() // 4, 10_000):
        site.clean()
        kill_points.fork(site.fix, PARTS, line, tmp_path)
        if recover.unsettled(site.book):
            break
    left = {path: path.read_bytes() for path in (tmp_path / "state" / "runs").iterdir()}
    assert recover.unsettled(site.book)
    before = hashlib.sha256(site.guests["101"].path.read_bytes()).digest()
    for line in range(1, kill_points.fork(site.recover, PARTS, 0, tmp_path) + 1):
        for path, text in left.items():
            path.write_bytes(text)
        assert kill_points.fork(site.recover, PARTS, line, tmp_path) == 0
        site.recover()
        assert not recover.unsettled(site.book)
        assert hashlib.sha256(site.guests["101"].path.read_bytes()).digest() == before
