"""Undo: exactly what was there, and only where the value is still ours."""

from dataclasses import replace
from pathlib import Path

import pytest

from support.changes import applied, plan_for
from support.fake_target import FakeGuest, FakeTarget, Memory
from unmask.errors import UsageError
from unmask.fixes import run, undo
from unmask.fixes.journal import Journal
from unmask.fixes.run import Hooks, Orders, Outcome
from unmask.model.change import Phase
from unmask.model.run import RunKind, undone_by


def planned(folder: Path, ident: str, target: FakeTarget, *wanted: str) -> undo.Undo:
    book = Journal(folder)
    return undo.plan(book.run(ident), book.runs(), wanted, lambda _: target)


def undone(folder: Path, ident: str, target: FakeTarget) -> Outcome:
    """Undo a run of one guest, in a run of its own."""
    book, plans = Journal(folder), planned(folder, ident, target).plans
    with book.begin(RunKind.UNDO, undoes=ident) as writer:
        (outcome,) = run.apply(plans, writer, book, Hooks(lambda _: target), Orders())
    return outcome


@pytest.mark.parametrize("before", ["kvm64", "host,flags=+aes", None])
def test_what_was_there_is_there_again(tmp_path: Path, before: str | None) -> None:
    target = FakeTarget(Memory(FakeGuest(cpu=before)))
    guest = target.store.load()
    first = applied(tmp_path, target, plan_for(target, "EPYC"))
    assert target.store.load().cpu == "EPYC"
    second = undone(tmp_path, first.run, target)
    assert (second.phase, second.problem) == (Phase.DONE, "")
    assert target.store.load() == guest
    book = Journal(tmp_path)
    fix, taken_back = book.run(first.run), book.run(second.run)
    assert (taken_back.kind, taken_back.undoes) == (RunKind.UNDO, first.run)
    assert taken_back.guests[0].lost == ("aes",)
    assert undone_by(fix, fix.guests[0], book.runs()) == second.run


def test_what_somebody_has_changed_since_is_left_as_it_is(tmp_path: Path) -> None:
    target = FakeTarget()
    first = applied(tmp_path, target, plan_for(target))
    target.store.save(replace(target.store.load(), cpu="qemu64"))
    found = planned(tmp_path, first.run, target)
    assert found.plans == ()
    (left,) = found.left
    assert left.failed
    assert "its CPU is qemu64 now" in left.why
    assert "made it host" in left.why


def test_another_guest_that_was_given_the_identifier_is_left_alone(tmp_path: Path) -> None:
    target = FakeTarget(Memory(FakeGuest(made="1750000000")))
    first = applied(tmp_path, target, plan_for(target))
    target.store.save(replace(target.store.load(), made="1760000000"))
    found = planned(tmp_path, first.run, target)
    assert found.plans == ()
    assert [(left.failed, "another guest now" in left.why) for left in found.left] == [(True, True)]
    target.store.save(replace(target.store.load(), made=""))  # nothing tells: as before
    assert planned(tmp_path, first.run, target).plans


def test_other_options_may_have_changed_since(tmp_path: Path) -> None:
    target = FakeTarget()
    first = applied(tmp_path, target, plan_for(target))
    options = {"memory": "4096"}
    target.store.save(replace(target.store.load(), options=options))
    assert undone(tmp_path, first.run, target).phase is Phase.DONE
    assert (target.store.load().cpu, target.store.load().options) == ("kvm64", options)


def test_what_has_its_old_value_is_not_written(tmp_path: Path) -> None:
    target = FakeTarget()
    first = applied(tmp_path, target, plan_for(target))
    target.store.save(replace(target.store.load(), cpu="kvm64"))
    (left,) = planned(tmp_path, first.run, target).left
    assert not left.failed
    assert "already" in left.why


def test_an_undo_is_done_once_and_can_itself_be_undone(tmp_path: Path) -> None:
    target = FakeTarget()
    first = applied(tmp_path, target, plan_for(target))
    second = undone(tmp_path, first.run, target)
    (left,) = planned(tmp_path, first.run, target).left
    assert f"run {second.run} has taken it back already" in left.why
    third = undone(tmp_path, second.run, target)
    assert (third.phase, target.store.load().cpu) == (Phase.DONE, "host")
    assert len(planned(tmp_path, first.run, target).plans) == 1


def test_what_did_not_happen_is_not_undone(tmp_path: Path) -> None:
    target = FakeTarget(refuse="locked")
    first = applied(tmp_path, target, plan_for(target))
    target.calls.clear()
    (left,) = planned(tmp_path, first.run, target).left
    assert (left.failed, target.calls) == (False, [])
    assert "did not change it" in left.why


def test_who_cannot_be_reached_is_said(tmp_path: Path) -> None:
    target = FakeTarget()
    first = applied(tmp_path, target, plan_for(target))
    target.unreachable = "no route"
    (left,) = planned(tmp_path, first.run, target).left
    assert left.failed
    assert "no route" in left.why


@pytest.mark.parametrize("name", ["101", "web", "lab/101"])
def test_guests_are_chosen_by_any_of_their_names(tmp_path: Path, name: str) -> None:
    target = FakeTarget()
    first = applied(tmp_path, target, plan_for(target))
    assert len(planned(tmp_path, first.run, target, name, "101").plans) == 1


def test_a_guest_that_is_not_in_the_run(tmp_path: Path) -> None:
    target = FakeTarget()
    first = applied(tmp_path, target, plan_for(target))
    with pytest.raises(UsageError, match="no guest called '999'"):
        planned(tmp_path, first.run, target, "999")


def test_a_run_that_goes_on_is_not_undone(tmp_path: Path) -> None:
    book = Journal(tmp_path)
    with (
        book.begin(RunKind.FIX) as writer,
        pytest.raises(UsageError, match="still going on"),
    ):
        planned(tmp_path, writer.ident, FakeTarget())
