"""A run against a lab, killed anywhere: each guest is old or new, and nothing else differs."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import unmask.connect.proxmox  # before the fork, so that no line of an import is counted
from support import kill_points, lab_process
from support.lab_process import LabProcess
from unmask.fixes import recover, run, undo
from unmask.fixes._target import Target
from unmask.fixes.journal import Journal
from unmask.fixes.proxmox import TARGET
from unmask.fixes.recover import Ways
from unmask.fixes.run import Hooks, Orders
from unmask.model.access import Access, Login, Trust
from unmask.model.change import Place, Plan, Setting
from unmask.model.inventory import Platform
from unmask.model.run import RunKind, Verdict
from unmask.model.secret import Secret
from unmask.model.source import CollectOptions

PARTS = ("unmask/fixes/", unmask.connect.proxmox.__file__)
POINTS = 200
GUESTS = {
    "101": ("nodes/pve1/qemu-server/101.conf", "x86-64-v2"),
    "102": ("nodes/pve1/qemu-server/102.conf", None),
    "111": ("nodes/pve2/qemu-server/111.conf", "kvm64"),
}
"""One that runs, one that runs and has no `cpu`, one that is off."""
NEW = "host"


@dataclass
class Site:
    """A lab, the journals, and what is done to its guests."""

    lab: LabProcess
    folder: Path

    @property
    def book(self) -> Journal:
        return Journal(self.folder / "state")

    def open(self, where: Place) -> Target:
        user, _, secret = self.lab.token.partition("=")
        access = Access(Login(user, Secret(secret)), Trust(ca_file=self.lab.ca))
        return TARGET.open(where, CollectOptions(timeout=20, access=access))

    def place(self, ident: str) -> Place:
        return Place(
            f"pve://{self.lab.address}", f"homelab/{ident}", ident, "", Platform.PROXMOX, "pve1"
        )

    def fix(self, *, restart: bool = False) -> None:
        plans = []
        for ident in GUESTS:
            target = self.open(self.place(ident))
            plans.append(Plan(self.place(ident), NEW, target.read(), Setting(NEW)))
            target.close()
        with self.book.begin(RunKind.FIX) as writer:
            orders = Orders(restart=restart, seconds_down=5, seconds_up=5)
            run.apply(plans, writer, self.book, Hooks(self.open), orders)

    def restart(self) -> None:
        self.fix(restart=True)

    def undo(self) -> None:
        (first,) = self.book.runs()
        plans = undo.plan(first, [first], (), self.open).plans
        with self.book.begin(RunKind.UNDO, undoes=first.ident) as writer:
            run.apply(plans, writer, self.book, Hooks(self.open), Orders())

    def recover(self) -> None:
        recover.recover(self.book, Ways(self.open, finish_undo=True, patience=0))
        recover.refuse_unsettled(self.book)

    def clean(self) -> dict[str, str]:
        """Bring everything to where it was at first, and return the cluster's files."""
        shutil.rmtree(self.folder / "state", ignore_errors=True)
        files: dict[str, str] = self.lab.tell("reset")["files"]
        return files

    def held(self, kind: RunKind, old: dict[str, str], new: dict[str, str]) -> tuple[Verdict, ...]:
        """Hold every file of the cluster against the last run of this kind."""
        files = dict(self.lab.tell("state")["files"])
        runs = [item for item in self.book.runs() if item.kind is kind]
        said = {guest.place.ident: guest for guest in runs[-1].guests} if runs else {}
        found = []
        for ident, (path, _) in GUESTS.items():
            guest = said.get(ident)
            assert guest is None or guest.settled
            is_new = guest is not None and guest.new
            assert files.pop(path) == (new if is_new else old)[path], (ident, guest)
            found.append(Verdict.NEW if is_new else Verdict.OLD)
        assert files == {path: text for path, text in old.items() if path in files}
        return tuple(found)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with lab_process.started() as lab:
        yield Site(lab, tmp_path)


def test_a_fix_killed_anywhere(site: Site) -> None:
    old = site.clean()
    site.fix()
    new = site.lab.tell("state")["files"]
    assert {path for path in old if old[path] != new[path]} == {path for path, _ in GUESTS.values()}
    site.clean()
    lines = kill_points.fork(site.fix, PARTS, 0, site.folder)
    seen, killed = set(), 0
    for line in kill_points.points(lines, POINTS, 1):
        site.clean()
        killed += not kill_points.fork(site.fix, PARTS, line, site.folder)
        site.recover()
        seen.add(site.held(RunKind.FIX, old, new))
    assert killed > POINTS * 0.9
    assert len(seen) == len(GUESTS) + 1


def test_an_undo_killed_anywhere(site: Site) -> None:
    first = site.clean()
    site.fix()
    fixed = site.lab.tell("state")["files"]
    left = site.folder / "fixed"
    shutil.copytree(site.folder / "state", left)
    lines = kill_points.fork(site.undo, PARTS, 0, site.folder)
    assert site.lab.tell("state")["files"] == first
    seen = set()
    for line in kill_points.points(lines, POINTS // 3, 2):
        site.clean()
        site.fix()
        shutil.rmtree(site.folder / "state")
        shutil.copytree(left, site.folder / "state")
        kill_points.fork(site.undo, PARTS, line, site.folder)
        site.recover()
        seen.add(site.held(RunKind.UNDO, fixed, first))
    assert len(seen) == len(GUESTS) + 1


def test_a_restart_killed_anywhere(site: Site) -> None:
    """A guest that is off afterwards is said to be off."""
    site.clean()
    lines = kill_points.fork(site.restart, PARTS, 0, site.folder)
    off = 0
    for line in kill_points.points(lines, POINTS // 4, 3):
        site.clean()
        kill_points.fork(site.restart, PARTS, line, site.folder)
        site.recover()
        state = site.lab.tell("state")
        runs = site.book.runs()
        said = {guest.place.ident: guest for guest in runs[-1].guests} if runs else {}
        for ident, (path, value) in GUESTS.items():
            guest = said.get(ident)
            is_new = guest is not None and guest.new
            wanted = NEW if is_new else value
            lines_of_cpu = [
                text for text in state["files"][path].splitlines() if text.startswith("cpu: ")
            ]
            assert lines_of_cpu[-1:] == ([f"cpu: {wanted}"] if wanted else []), (ident, guest)
            if ident != "111" and int(ident) not in state["running"]:
                off += 1
                assert guest is not None
                assert "it is off, and was to be started again" in guest.last.detail
    assert off
