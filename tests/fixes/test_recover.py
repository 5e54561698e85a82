"""What ended in its middle is settled by looking, and by nothing else."""

import time
from dataclasses import replace
from pathlib import Path

import pytest

from support.fake_target import FakeGuest, FakeTarget, Memory, place
from unmask.fixes import recover
from unmask.fixes._lock import guest_lock
from unmask.fixes.journal import Journal, JournalError
from unmask.fixes.recover import Settled, UnsettledError, Ways
from unmask.model.change import Phase, Setting
from unmask.model.run import GuestRun, RunKind, Verdict

LONG_AGO = "2026-01-01T00:00:00Z"
GUEST = GuestRun(place(), "host", Setting("kvm64", "d"), Setting("host"))


def broken_off(folder: Path, *phases: Phase, clock: str = LONG_AGO) -> Journal:
    """Return journals of which one ends with these phases."""
    book = Journal(folder, lambda: clock)
    with book.begin(RunKind.FIX) as writer:
        writer.plan(GUEST)
        for phase in phases:
            writer.event(GUEST.place, phase)
    return Journal(folder)


def never(_seconds: float) -> None:
    pytest.fail("waited")


def look(book: Journal, target: FakeTarget, **more: object) -> list[Settled]:
    ways = Ways(lambda _: target, sleep=never)
    return list(recover.recover(book, replace(ways, **more)))  # type: ignore[arg-type]


def guest(cpu: str | None, *, running: bool = True) -> FakeTarget:
    return FakeTarget(Memory(FakeGuest(cpu=cpu, running=running)))


@pytest.mark.parametrize(
    ("phase", "cpu", "verdict", "settled_as"),
    [
        (Phase.WRITING, "kvm64", Verdict.OLD, Phase.REFUSED),
        (Phase.WRITING, "host", Verdict.NEW, Phase.WRITTEN),
        (Phase.WRITING, "qemu64", Verdict.OTHER, Phase.FAILED),
        (Phase.WRITING, None, Verdict.OTHER, Phase.FAILED),
        (Phase.FAILED, "kvm64", Verdict.OLD, Phase.UNDONE),
        (Phase.FAILED, "host", Verdict.NEW, Phase.WRITTEN),
        (Phase.STARTING, "host", Verdict.NEW, Phase.WRITTEN),
        (Phase.VERIFYING, "host", Verdict.NEW, Phase.WRITTEN),
        (Phase.UNDOING, "kvm64", Verdict.OLD, Phase.UNDONE),
        (Phase.UNDOING, "host", Verdict.NEW, Phase.WRITTEN),
    ],
)
def test_what_is_there_decides(
    tmp_path: Path, phase: Phase, cpu: str | None, verdict: Verdict, settled_as: Phase
) -> None:
    book, target = broken_off(tmp_path, phase), guest(cpu)
    before = target.store.load()
    with pytest.raises(UnsettledError, match=r"lab/101 \(web\) in run .*unmask recover"):
        recover.refuse_unsettled(book)
    (settled,) = look(book, target)
    assert settled.verdict is verdict
    found = book.runs()[0].guests[0]
    assert (found.settled, found.phase, found.last.verdict) == (True, settled_as, verdict)
    assert found.new == (verdict is Verdict.NEW)
    assert target.store.load() == before
    assert not [call for call in target.calls if call not in ("read", "state")]
    recover.refuse_unsettled(book)
    assert look(book, target) == []


@pytest.mark.parametrize(
    "phases", [(), (Phase.ACKNOWLEDGED,), (Phase.WRITING, Phase.WRITTEN), (Phase.REFUSED,)]
)
def test_what_is_settled_is_not_looked_at(tmp_path: Path, phases: tuple[Phase, ...]) -> None:
    book, target = broken_off(tmp_path, *phases), guest("host")
    recover.refuse_unsettled(book)
    assert look(book, target) == []
    assert target.calls == []


def test_what_was_just_sent_is_waited_for(tmp_path: Path) -> None:
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    book, target = broken_off(tmp_path, Phase.WRITING, clock=now), guest("kvm64")
    waited: list[float] = []

    def arrives(seconds: float) -> None:
        waited.append(seconds)
        target.store.save(replace(target.store.load(), cpu="host"))

    (settled,) = look(book, target, sleep=arrives)
    assert settled.verdict is Verdict.NEW
    assert 0 < waited[0] <= recover.PATIENCE


def test_what_has_arrived_is_not_waited_for(tmp_path: Path) -> None:
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    (settled,) = look(broken_off(tmp_path, Phase.WRITING, clock=now), guest("host"))
    assert settled.verdict is Verdict.NEW


def test_a_guest_that_is_off_is_said(tmp_path: Path) -> None:
    book = broken_off(tmp_path, Phase.WRITING, Phase.WRITTEN, Phase.STOPPING)
    (settled,) = look(book, guest("host", running=False))
    assert settled.detail.endswith("it is off, and was to be started again: start it")


def test_an_undo_is_finished_only_where_that_was_asked_for(tmp_path: Path) -> None:
    book, target = broken_off(tmp_path, Phase.WRITING, Phase.UNDOING), guest("host")
    (settled,) = look(book, target, finish_undo=True)
    assert (settled.verdict, target.store.load().cpu) == (Verdict.OLD, "kvm64")
    assert book.runs()[0].guests[0].phase is Phase.UNDONE


def test_finishing_an_undo_never_touches_what_is_not_ours(tmp_path: Path) -> None:
    book, target = broken_off(tmp_path, Phase.WRITING, Phase.UNDOING), guest("qemu64")
    (settled,) = look(book, target, finish_undo=True)
    assert (settled.verdict, target.store.load().cpu) == (Verdict.OTHER, "qemu64")
    assert "neither what it had (kvm64) nor what it was to have (host)" in settled.sentence


def test_an_undo_that_cannot_be_finished_stays_open(tmp_path: Path) -> None:
    book = broken_off(tmp_path, Phase.WRITING, Phase.UNDOING)
    target = guest("host")
    target.refuse = "locked"
    (settled,) = look(book, target, finish_undo=True)
    assert (settled.verdict, settled.detail) == (None, "it is not known what it has: locked")
    assert recover.unsettled(book)


def test_who_cannot_be_looked_at_stays_open(tmp_path: Path) -> None:
    book = broken_off(tmp_path, Phase.WRITING)
    target = FakeTarget(unreachable="no route")
    (settled,) = look(book, target)
    assert settled.verdict is None
    assert "no route" in settled.sentence
    with guest_lock(tmp_path, place()):
        (settled,) = look(book, guest("host"))
    assert settled.verdict is None
    assert recover.unsettled(book)


def test_a_guest_that_is_gone_is_settled_by_the_operators_word(tmp_path: Path) -> None:
    book = broken_off(tmp_path, Phase.WRITING)
    target = FakeTarget(unreachable="no such guest")
    (settled,) = look(book, target, gone=("101",))
    assert (settled.verdict, target.calls) == (Verdict.GONE, [])
    recover.refuse_unsettled(book)


def test_a_run_that_goes_on_is_left_alone(tmp_path: Path) -> None:
    book, target = Journal(tmp_path), guest("host")
    with book.begin(RunKind.FIX) as writer:
        writer.plan(GUEST)
        writer.event(GUEST.place, Phase.WRITING)
        recover.refuse_unsettled(book)
        assert look(book, target) == []
    assert recover.unsettled(book)


def test_a_journal_that_cannot_be_read_is_not_passed_over(tmp_path: Path) -> None:
    book = broken_off(tmp_path, Phase.WRITING)
    (path,) = (tmp_path / "runs").iterdir()
    path.write_text("nonsense\n")
    with pytest.raises(JournalError):
        recover.refuse_unsettled(book)
    with pytest.raises(JournalError):
        look(book, guest("host"))


def test_what_the_hypervisor_made_of_it_is_ours_to_take_back(tmp_path: Path) -> None:
    book, target = Journal(tmp_path, lambda: LONG_AGO), guest("made up")
    with book.begin(RunKind.FIX) as writer:
        writer.plan(GUEST)
        writer.event(GUEST.place, Phase.UNDOING, "not as planned", found=Setting("made up"))
    (settled,) = look(book, target, finish_undo=True)
    assert (settled.verdict, target.store.load().cpu) == (Verdict.OLD, "kvm64")


def test_another_guest_that_was_given_the_identifier_is_not_touched(tmp_path: Path) -> None:
    book = Journal(tmp_path, lambda: LONG_AGO)
    with book.begin(RunKind.FIX) as writer:
        writer.plan(replace(GUEST, before=Setting("kvm64", "d", "1750000000")))
        writer.event(GUEST.place, Phase.UNDOING)
    target = FakeTarget(Memory(FakeGuest(cpu="host", made="1760000000")))
    before = target.store.load()
    (settled,) = look(Journal(tmp_path), target, finish_undo=True)
    assert settled.verdict is Verdict.GONE
    assert target.store.load() == before
    assert Journal(tmp_path).runs()[0].guests[0].settled
