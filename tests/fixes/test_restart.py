"""Off, on, a look inside, and the way back where the guest does not come back."""

from dataclasses import replace
from pathlib import Path

import pytest

from support.changes import applied, cpu, full_when, phases, plan_for
from support.fake_target import FakeGuest, FakeTarget, Memory
from unmask.errors import TargetError
from unmask.fixes.run import Hooks, Orders
from unmask.model.change import Phase

RESTART = Orders(restart=True)


def test_a_restart_brings_it_into_force(tmp_path: Path) -> None:
    target = FakeTarget()
    hooks = Hooks(lambda _: target, verify=lambda _plan: "the guest sees aes")
    outcome = applied(tmp_path, target, plan_for(target), RESTART, hooks)
    assert (outcome.phase, outcome.problem) == (Phase.DONE, "")
    assert outcome.detail == "the guest sees aes"
    assert phases(tmp_path)[3:] == [
        Phase.STOPPING,
        Phase.STARTING,
        Phase.VERIFYING,
        Phase.DONE,
    ]
    assert target.calls[3:] == ["state", "shut_down", "start"]
    assert target.store.load().cpu_of_process == "host"


def test_a_guest_that_is_off_stays_off(tmp_path: Path) -> None:
    target = FakeTarget(Memory(FakeGuest(running=False)))
    outcome = applied(tmp_path, target, plan_for(target), RESTART)
    assert (outcome.phase, outcome.problem) == (Phase.DONE, "")
    assert "when it is started" in outcome.detail
    assert "start" not in target.calls


def test_a_guest_that_does_not_shut_down_keeps_running(tmp_path: Path) -> None:
    target = FakeTarget(stubborn=True)
    outcome = applied(tmp_path, target, plan_for(target), RESTART)
    assert outcome.phase is Phase.WRITTEN
    assert "did not shut down within 180 s" in outcome.problem
    assert f"unmask undo {outcome.run} --restart" in outcome.problem
    assert target.store.load().running
    assert not outcome.unsettled


def test_the_plug_is_pulled_only_where_that_was_asked_for(tmp_path: Path) -> None:
    target = FakeTarget(stubborn=True)
    orders = replace(RESTART, force_stop=True)
    assert applied(tmp_path, target, plan_for(target), orders).phase is Phase.DONE


def test_a_guest_that_does_not_start_is_said_loudly(tmp_path: Path) -> None:
    target = FakeTarget(dead="host lacks aes")
    outcome = applied(tmp_path, target, plan_for(target), RESTART)
    assert outcome.phase is Phase.WRITTEN
    assert "host lacks aes; the guest is stopped and its change is written" in outcome.problem


def test_auto_undo_brings_a_guest_back_that_does_not_start(tmp_path: Path) -> None:
    target = FakeTarget()
    before = target.store.load()
    plan = plan_for(target)

    def picky(point: str) -> None:
        if point == "start: before":
            target.dead = "host lacks aes" if cpu(target) == "host" else ""

    target.at = picky
    outcome = applied(tmp_path, target, plan, replace(RESTART, auto_undo=True))
    assert outcome.phase is Phase.UNDONE
    assert outcome.problem.endswith("is there again, and the guest was started with it")
    assert target.store.load() == before
    assert phases(tmp_path)[-4:] == [
        Phase.UNDOING,
        Phase.UNDONE,
        Phase.STARTING,
        Phase.UNDONE,
    ]


def test_auto_undo_restarts_a_guest_that_nobody_can_get_into(tmp_path: Path) -> None:
    target = FakeTarget()
    before = target.store.load()

    def lost(_plan: object) -> str:
        raise TargetError("the agent did not answer within 180 s")

    hooks = Hooks(lambda _: target, verify=lost)
    orders = replace(RESTART, auto_undo=True)
    outcome = applied(tmp_path, target, plan_for(target), orders, hooks)
    assert (outcome.phase, target.store.load()) == (Phase.UNDONE, before)
    assert target.calls.count("shut_down") == 2


def test_auto_undo_of_a_guest_that_never_went_off_leaves_it_alone(tmp_path: Path) -> None:
    target = FakeTarget(stubborn=True)
    before = target.store.load()
    outcome = applied(tmp_path, target, plan_for(target), replace(RESTART, auto_undo=True))
    assert (outcome.phase, target.store.load()) == (Phase.UNDONE, before)
    assert target.calls.count("shut_down") == 1
    assert "start" not in target.calls


def test_auto_undo_that_cannot_start_it_either_says_so(tmp_path: Path) -> None:
    target = FakeTarget(dead="no memory")
    outcome = applied(tmp_path, target, plan_for(target), replace(RESTART, auto_undo=True))
    assert outcome.phase is Phase.UNDONE
    assert "but it is stopped, with its old CPU: no memory" in outcome.problem


def test_only_stopped_guests_where_that_was_asked_for(tmp_path: Path) -> None:
    target = FakeTarget()
    outcome = applied(tmp_path, target, plan_for(target), Orders(only_stopped=True))
    assert (outcome.phase, target.calls) == (Phase.REFUSED, ["state"])
    assert "the guest is running" in outcome.problem


def test_a_guest_is_not_left_off_for_want_of_a_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = FakeTarget()
    plan = plan_for(target)
    full_when(monkeypatch, Phase.STARTING)
    outcome = applied(tmp_path, target, plan, RESTART)
    assert "No space left" in outcome.problem
    assert outcome.unsettled
    assert target.store.load().running
