"""A run against a real libvirtd, killed anywhere: the guest is old or new to the byte."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from support import kill_points
from support.domain_xml import document
from support.libvirt_runs import NEW, Runs, running
from support.libvirtd import PREFIX, Libvirtd
from unmask.dialects.libvirt import domain_text
from unmask.fixes import recover
from unmask.fixes.journal import Journal
from unmask.model.run import RunKind, Verdict

POINTS = 200
NAME = f"{PREFIX}kills"
DEVICES = "<devices><graphics type='vnc' port='-1' autoport='yes' passwd='S3cret'/>"


@dataclass
class Site:
    """A domain without disks, the program that changes it, and what it writes down."""

    libvirtd: Libvirtd
    folder: Path
    runs: Runs
    old: str
    """Its XML at first, with its password."""

    def xml(self) -> str:
        return self.libvirtd.virsh("dumpxml", "--inactive", "--security-info", NAME)

    @property
    def on(self) -> bool:
        return NAME in self.libvirtd.virsh("list", "--name").split()

    def clean(self, xml: str) -> None:
        """Bring the domain to this XML, and forget all runs."""
        if self.xml() != xml:
            self.libvirtd.define(xml)
        shutil.rmtree(self.folder / "state", ignore_errors=True)

    @property
    def new(self) -> str:
        return domain_text.with_cpu(self.old, NEW)

    def held(self, kind: RunKind) -> Verdict:
        """Hold the domain against the last run of this kind, and return what it has."""
        book = Journal(self.folder / "state")
        recover.refuse_unsettled(book)
        guests = [guest for item in book.runs() if item.kind is kind for guest in item.guests]
        after, before = (self.new, self.old) if kind is RunKind.FIX else (self.old, self.new)
        new = bool(guests) and guests[-1].new  # with no journal, nothing may have been done
        assert self.xml() == (after if new else before), guests
        for path in (self.folder / "state").rglob("*"):
            assert path.is_dir() or b"S3cret" not in path.read_bytes()
        return Verdict.NEW if new else Verdict.OLD


@contextmanager
def made(libvirtd: Libvirtd, folder: Path, *, restart: bool) -> Iterator[Site]:
    libvirtd.define(document(NAME).replace("<devices>", DEVICES))
    uuid = libvirtd.virsh("domuuid", NAME).strip()
    with running(libvirtd.uri, uuid, folder, restart=restart) as runs:
        site = Site(libvirtd, folder, runs, "")
        site.old = site.xml()
        yield site


@pytest.fixture
def site(empty_libvirtd: Libvirtd, tmp_path: Path) -> Iterator[Site]:
    with made(empty_libvirtd, tmp_path, restart=False) as found:
        yield found


def both(site: Site, kind: RunKind, commands: Iterable[str], recovery: str = "recover") -> None:
    """Give commands that end in a kill, each to a fresh site; some come too early, some late."""
    start = site.old if kind is RunKind.FIX else site.new
    left = site.folder / "fixed"
    seen = set()
    for command in commands:
        site.clean(start)
        if kind is RunKind.UNDO:
            shutil.copytree(left, site.folder / "state")
        assert site.runs.tell(command) == 0
        site.runs.tell(recovery)
        seen.add(site.held(kind))
    assert seen == {Verdict.OLD, Verdict.NEW}


def test_a_fix_killed_anywhere(site: Site) -> None:
    site.runs.tell("fix 0")
    site.clean(site.old)
    lines = site.runs.tell("fix 0")
    assert site.held(RunKind.FIX) is Verdict.NEW
    both(site, RunKind.FIX, (f"fix {line}" for line in kill_points.points(lines, POINTS, 1)))


def test_an_undo_killed_anywhere(site: Site) -> None:
    site.runs.tell("fix 0")
    shutil.copytree(site.folder / "state", site.folder / "fixed")
    lines = site.runs.tell("undo 0")
    assert site.xml() == site.old
    both(site, RunKind.UNDO, (f"undo {line}" for line in kill_points.points(lines, 60, 2)))


def test_killed_while_libvirt_is_told(site: Site) -> None:
    """Whether the definition arrives is a race between two processes; both ends are right."""
    for _ in range(15):
        site.clean(site.old)
        assert site.runs.tell("cut") == 0
        site.runs.tell("recover-cut")
        site.held(RunKind.FIX)


def test_a_restart_killed_anywhere(empty_libvirtd: Libvirtd, tmp_path: Path) -> None:
    """A guest that is off afterwards is said to be off; it would have stayed so unnoticed."""
    with made(empty_libvirtd, tmp_path, restart=True) as site:
        empty_libvirtd.virsh("start", NAME)
        lines = site.runs.tell("fix 0")
        assert "Westmere" in empty_libvirtd.virsh("dumpxml", NAME)
        late = [line for line in kill_points.points(lines, 40, 3) if line > lines // 2]
        for line in late:
            site.clean(site.old)
            if not site.on:
                empty_libvirtd.virsh("start", NAME)
            site.runs.tell(f"fix {line}")
            site.runs.tell("recover")
            site.held(RunKind.FIX)
            (guest,) = Journal(tmp_path / "state").runs()[-1].guests
            assert site.on or "it is off, and was to be started again" in guest.last.detail
