"""The order of a change, and how it ends where something is not as it should be."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from support.changes import CONSTRAINT, applied, cpu, full_when, phases, plan_for
from support.fake_target import FakeGuest, FakeTarget, Memory
from unmask.fixes._lock import guest_lock
from unmask.fixes._target import RefusedError
from unmask.fixes.journal import Journal
from unmask.fixes.run import Hooks, Orders
from unmask.model.change import Constraint, Phase, Setting

RESTART = Orders(restart=True)


def test_a_change_of_a_running_guest_waits_for_its_restart(tmp_path: Path) -> None:
    target = FakeTarget()
    outcome = applied(tmp_path, target, plan_for(target))
    assert (outcome.phase, outcome.problem) == (Phase.DONE, "")
    assert "its own reboot does not do it" in outcome.detail
    assert phases(tmp_path) == [Phase.PLANNED, Phase.WRITING, Phase.WRITTEN, Phase.DONE]
    assert target.calls == ["read", "write host", "read", "state"]
    assert (cpu(target), target.closed) == ("host", True)
    assert target.store.load().cpu_of_process == "kvm64"


def test_each_step_is_in_the_journal_before_it_begins(tmp_path: Path) -> None:
    seen: list[tuple[str, Phase]] = []
    target = FakeTarget()
    plan = plan_for(target)
    target.at = lambda point: seen.append((point, phases_live()))

    def phases_live() -> Phase:
        return Journal(tmp_path).runs()[0].guests[0].phase

    applied(tmp_path, target, plan, RESTART)
    assert [item for item in seen if item[0] in ("write: before", "shut_down: before")] == [
        ("write: before", Phase.WRITING),
        ("shut_down: before", Phase.STOPPING),
    ]
    assert ("start: before", Phase.STARTING) in seen


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda guest: replace(guest, cpu="qemu64"), "its CPU is qemu64 now, and was kvm64"),
        (lambda guest: replace(guest, cpu=None), "its CPU is not set now"),
        (lambda guest: replace(guest, options={"memory": "1"}), "somebody has changed its conf"),
    ],
)
def test_what_has_changed_since_the_plan_stops_it(
    tmp_path: Path, change: Callable[[FakeGuest], FakeGuest], words: str
) -> None:
    target = FakeTarget()
    plan = plan_for(target)
    target.store.save(change(target.store.load()))
    before = target.store.load()
    outcome = applied(tmp_path, target, plan)
    assert outcome.phase is Phase.REFUSED
    assert words in outcome.problem
    assert "nothing was written" in outcome.problem
    assert (target.store.load(), target.calls) == (before, ["read"])
    assert phases(tmp_path) == [Phase.PLANNED, Phase.REFUSED]


def test_what_changes_between_the_look_and_the_write_stops_it(tmp_path: Path) -> None:
    target = FakeTarget()
    plan = plan_for(target)

    def somebody(point: str) -> None:
        if point == "write: before":
            target.store.save(replace(target.store.load(), options={"memory": "4096"}))

    target.at = somebody
    outcome = applied(tmp_path, target, plan)
    assert (outcome.phase, cpu(target)) == (Phase.REFUSED, "kvm64")


@pytest.mark.parametrize(
    "found",
    [
        CONSTRAINT,
        replace(CONSTRAINT, acknowledged=False),
        Constraint("RST001", "something else", acknowledged=True, fatal=True),
    ],
)
def test_a_constraint_that_nobody_took_on_stops_it(tmp_path: Path, found: Constraint) -> None:
    target = FakeTarget()
    hooks = Hooks(lambda _: target, recheck=lambda _plan: [replace(found, message="new")])
    outcome = applied(tmp_path, target, plan_for(target, constraints=[CONSTRAINT]), hooks=hooks)
    assert outcome.phase is Phase.REFUSED
    assert "nobody has acknowledged RST001: new" in outcome.problem
    assert target.calls == ["read"]


def test_a_plan_with_an_open_constraint_does_not_even_read(tmp_path: Path) -> None:
    target = FakeTarget()
    plan = plan_for(target, constraints=[replace(CONSTRAINT, acknowledged=False)])
    outcome = applied(tmp_path, target, plan)
    assert (outcome.phase, target.calls) == (Phase.REFUSED, [])


def test_who_took_on_what_is_in_the_journal(tmp_path: Path) -> None:
    target = FakeTarget()
    plan = plan_for(target, constraints=[CONSTRAINT])
    applied(tmp_path, target, plan, Orders(reason="ticket 7"))
    (taken,) = Journal(tmp_path).runs()[0].guests[0].acknowledgements
    assert (taken.code, taken.text, taken.reason) == ("RST001", CONSTRAINT.message, "ticket 7")
    assert taken.user
    assert taken.host
    assert taken.time


def test_a_refusal_leaves_everything_as_it_was(tmp_path: Path) -> None:
    target = FakeTarget(refuse="VM is locked (backup)")
    outcome = applied(tmp_path, target, plan_for(target))
    assert (outcome.phase, outcome.problem) == (Phase.REFUSED, "VM is locked (backup)")
    assert cpu(target) == "kvm64"


def test_a_refusal_that_is_none_is_not_believed(tmp_path: Path) -> None:
    target = FakeTarget()
    plan = plan_for(target)

    def late(point: str) -> None:
        if point == "write: after":
            raise RefusedError("the task failed")

    target.at = late
    outcome = applied(tmp_path, target, plan)
    assert (outcome.phase, outcome.unsettled) == (Phase.FAILED, True)
    assert "the task failed; its CPU is host; run `unmask recover`" in outcome.problem


def test_a_lost_answer_is_looked_for(tmp_path: Path) -> None:
    target = FakeTarget(lose="done")
    outcome = applied(tmp_path, target, plan_for(target))
    assert (outcome.phase, outcome.problem) == (Phase.DONE, "")


def test_a_lost_answer_with_nothing_there_may_still_come_true(tmp_path: Path) -> None:
    target = FakeTarget(lose="not done")
    outcome = applied(tmp_path, target, plan_for(target))
    assert (outcome.phase, outcome.unsettled) == (Phase.FAILED, True)
    assert "unmask recover" in outcome.problem


def test_what_cannot_be_read_back_is_not_known(tmp_path: Path) -> None:
    target = FakeTarget()
    plan = plan_for(target)

    def cut(point: str) -> None:
        if point == "write: after":
            target.unreachable = "no route"

    target.at = cut
    outcome = applied(tmp_path, target, plan)
    assert outcome.phase is Phase.FAILED
    assert "could not be read back (no route)" in outcome.problem


def test_what_does_not_stick_is_taken_back_at_once(tmp_path: Path) -> None:
    target = FakeTarget(keep=lambda value: "x86-64-v2" if value == "host" else value)
    before = target.store.load()
    outcome = applied(tmp_path, target, plan_for(target))
    assert outcome.phase is Phase.UNDONE
    assert "the hypervisor made x86-64-v2 of it" in outcome.problem
    assert "what was there before is there again" in outcome.problem
    assert target.store.load() == before
    assert phases(tmp_path)[-2:] == [Phase.UNDOING, Phase.UNDONE]


def test_an_option_that_was_not_set_is_taken_out_again(tmp_path: Path) -> None:
    target = FakeTarget(
        Memory(FakeGuest(cpu=None)), keep=lambda value: "odd" if value == "host" else value
    )
    outcome = applied(tmp_path, target, plan_for(target))
    assert (outcome.phase, cpu(target)) == (Phase.UNDONE, None)


def test_what_is_taken_and_not_kept_is_a_refusal(tmp_path: Path) -> None:
    target = FakeTarget(keep=lambda _value: "kvm64")
    outcome = applied(tmp_path, target, plan_for(target))
    assert outcome.phase is Phase.REFUSED
    assert "did not keep it" in outcome.problem


def test_what_cannot_be_taken_back_is_said(tmp_path: Path) -> None:
    target = FakeTarget(keep=lambda _value: "odd")
    outcome = applied(tmp_path, target, plan_for(target))
    assert outcome.phase is Phase.FAILED
    assert "could not be taken back: its CPU is odd" in outcome.problem


def test_a_custom_model_that_cannot_be_made_stops_it(tmp_path: Path) -> None:
    target = FakeTarget()

    def no(_plan: object, _target: object) -> None:
        raise RefusedError("no Sys.Modify on /")

    hooks = Hooks(lambda _: target, prepare=no)
    outcome = applied(tmp_path, target, plan_for(target), hooks=hooks)
    assert (outcome.phase, target.calls) == (Phase.REFUSED, ["read"])
    assert "the guest itself was not touched" in outcome.problem


def test_two_runs_at_once_on_one_guest(tmp_path: Path) -> None:
    target = FakeTarget()
    plan = plan_for(target)
    with guest_lock(tmp_path, replace(plan.place, target="pve+ssh://another-way")):
        outcome = applied(tmp_path, target, plan)
    assert (outcome.phase, target.calls, cpu(target)) == (Phase.REFUSED, [], "kvm64")
    assert "another run of unmask is changing this guest" in outcome.problem


def test_a_hypervisor_that_cannot_be_reached(tmp_path: Path) -> None:
    target = FakeTarget()
    plan = plan_for(target)
    target.unreachable = "no route"
    outcome = applied(tmp_path, target, plan)
    assert (outcome.phase, outcome.problem) == (Phase.REFUSED, "no route")


def test_without_a_journal_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = FakeTarget()
    plan = plan_for(target)
    full_when(monkeypatch, Phase.WRITING)
    outcome = applied(tmp_path, target, plan)
    assert (outcome.phase, cpu(target)) == (Phase.PLANNED, "kvm64")
    assert "No space left" in outcome.problem


def test_the_same_setting_again_is_done_and_harms_nothing(tmp_path: Path) -> None:
    target = FakeTarget()
    before = target.store.load()
    plan = replace(plan_for(target), after=Setting("kvm64"))
    outcome = applied(tmp_path, target, plan)
    assert (outcome.phase, target.store.load()) == (Phase.DONE, before)
