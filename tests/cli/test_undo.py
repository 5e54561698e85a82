"""`unmask undo` and `unmask recover`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from support.changes import applied, plan_for
from support.fake_target import FakeGuest, FakeTarget, Memory, kind, place
from unmask.cli import changing, terminal
from unmask.errors import UsageError
from unmask.fixes import _target
from unmask.fixes.journal import Journal
from unmask.model.change import Phase, Setting
from unmask.model.run import GuestRun, RunKind

from .conftest import Command


@pytest.fixture
def target(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeTarget:
    """Return the only guest there is, and let the commands find it."""
    target = FakeTarget(Memory(FakeGuest(cpu=None)))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(_target, "kinds", lambda: (kind(target),))
    return target


@pytest.fixture
def run_id(target: FakeTarget) -> str:
    """Return a run that has changed the guest."""
    outcome = applied(changing.book().folder, target, plan_for(target))
    target.calls.clear()
    return outcome.run


def broken_off(phase: Phase) -> str:
    """Leave a run in its middle, long ago."""
    book = Journal(changing.book().folder, lambda: "2026-01-01T00:00:00Z")
    guest = GuestRun(place(), "host", Setting(None), Setting("host"))
    with book.begin(RunKind.FIX) as writer:
        writer.plan(guest)
        writer.event(guest.place, phase)
        return writer.ident


def test_undo_takes_an_option_out_that_was_not_there(
    command: Command, target: FakeTarget, run_id: str
) -> None:
    answer = command("undo", run_id)
    assert (answer.code, answer.errors) == (0, "")
    assert target.store.load().cpu is None
    undone = changing.book().runs()
    (ident,) = (run.ident for run in undone if run.undoes == run_id)
    assert " ".join(answer.output.split()) == (
        "lab/101 (web): take its CPU's setting out: done; the guest is running; it keeps its CPU "
        "until it is shut down and started again: its own reboot does not do it "
        f"This is run {ident}."
    )


def test_undo_with_a_restart(command: Command, target: FakeTarget, run_id: str) -> None:
    answer = command("undo", run_id[:20], "--restart", "--vm", "101")
    assert (answer.code, answer.errors) == (0, "")
    assert target.store.load() == FakeGuest(cpu=None, cpu_of_process=None)


def test_undo_writes_nothing_when_asked_only_to_look(
    command: Command, target: FakeTarget, run_id: str
) -> None:
    answer = command("undo", run_id, "--dry-run")
    assert answer.code == 0
    assert answer.output == "lab/101 (web): not done: take its CPU's setting out\n"
    assert target.calls == ["read"]
    assert len(changing.book().runs()) == 1


def test_undo_leaves_what_somebody_has_changed_since(
    command: Command, target: FakeTarget, run_id: str
) -> None:
    target.store.save(replace(target.store.load(), cpu="qemu64"))
    answer = command("undo", run_id)
    assert answer.code == 4
    assert "somebody has changed it since" in " ".join(answer.output.split())
    assert target.calls == ["read"]


def test_undo_of_what_was_undone(command: Command, target: FakeTarget, run_id: str) -> None:
    assert command("undo", run_id).code == 0
    target.calls.clear()
    answer = command("undo", run_id)
    assert answer.code == 0
    assert "has taken it back already" in answer.output
    assert target.calls == []


def test_undo_that_is_refused(command: Command, target: FakeTarget, run_id: str) -> None:
    target.refuse = "VM is locked (backup)"
    answer = command("undo", run_id)
    assert answer.code == 4
    assert answer.output.startswith("lab/101 (web): VM is locked (backup)\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("undo", "nonsense"), "there is no run 'nonsense'"),
        (("undo", "{run}", "--vm", "999"), "has no guest called '999'"),
        (("undo", "{run}", "--token-file", "missing", "--config", "missing"), "missing"),
    ],
)
def test_usage_errors(
    command: Command, target: FakeTarget, run_id: str, words: tuple[str, ...], message: str
) -> None:
    answer = command(*(word.format(run=run_id) for word in words))
    assert answer.code == 2
    assert message in answer.errors
    assert target.calls == []


def test_undo_of_a_guest_that_cannot_be_changed_from_here(
    command: Command, monkeypatch: pytest.MonkeyPatch, run_id: str
) -> None:
    monkeypatch.setattr(_target, "kinds", tuple)
    answer = command("undo", run_id)
    assert answer.code == 4
    assert "its guests cannot be changed from here" in " ".join(answer.output.split())


def test_nothing_begins_before_what_is_open_is_settled(
    command: Command, target: FakeTarget, run_id: str
) -> None:
    left = broken_off(Phase.WRITING)
    answer = command("undo", run_id)
    assert (answer.code, answer.output, target.calls) == (4, "", [])
    assert f"lab/101 (web) in run {left}; nothing was begun; run `unmask recover`" in answer.errors
    settled = command("recover")
    assert (settled.code, settled.errors) == (0, "")
    assert settled.output == f"lab/101 (web), run {left}: it has its new CPU, host\n"
    assert command("undo", run_id).code == 0


def test_recover_with_nothing_to_do(command: Command, target: FakeTarget) -> None:
    answer = command("recover")
    assert (answer.code, answer.output) == (0, "Nothing to recover: every run is settled.\n")
    assert target.calls == []


def test_recover_that_cannot_look(command: Command, target: FakeTarget) -> None:
    left = broken_off(Phase.STARTING)
    target.unreachable = "no route to \x1b[31mhost"
    answer = command("recover")
    assert answer.code == 4
    assert answer.output == (
        f"lab/101 (web), run {left}: it is not known what it has: no route to host\n"
    )
    answer = command("recover", "--gone", "web")
    assert answer.code == 0
    assert "the operator says that it no longer exists" in answer.output


def test_recover_says_who_else_was_there(command: Command, target: FakeTarget) -> None:
    broken_off(Phase.WRITING)
    target.store.save(FakeGuest(cpu="qemu64"))
    answer = command("recover")
    assert answer.code == 4
    assert "neither what it had (not set) nor" in " ".join(answer.output.split())
    assert command("recover").code == 0


def test_recover_finishes_an_undo_only_where_told_to(command: Command, target: FakeTarget) -> None:
    target.store.save(FakeGuest(cpu="host"))
    broken_off(Phase.UNDOING)
    assert command("recover", "--finish-undo").code == 0
    assert target.store.load().cpu is None


def test_ctrl_c_says_where_to_go_on(command: Command, target: FakeTarget, run_id: str) -> None:
    def interrupt(point: str) -> None:
        if point == "write: after":
            raise KeyboardInterrupt

    target.at = interrupt
    answer = command("undo", run_id)
    assert answer.code == 130
    assert "run `unmask recover`, which looks at the guests" in answer.errors
    target.at = lambda _point: None
    assert "it has its new CPU, not set" in command("recover").output


def test_a_report_that_is_lost_does_not_say_that_nothing_was_done(
    command: Command, target: FakeTarget, run_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: str) -> None:
        raise UsageError("standard output: cannot be written: No space left on device")

    monkeypatch.setattr(terminal, "put", full)
    answer = command("undo", run_id)
    assert target.store.load().cpu is None
    assert answer.code == 4
    assert "unmask history" in answer.errors


def test_force_stop_without_a_restart(command: Command, target: FakeTarget, run_id: str) -> None:
    answer = command("undo", run_id, "--force-stop")
    assert answer.code == 2
    assert target.calls == []
