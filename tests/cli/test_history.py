"""`unmask history`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from support.changes import CONSTRAINT, applied, plan_for
from support.fake_target import FakeTarget, place
from unmask.fixes.journal import Journal
from unmask.fixes.run import Orders
from unmask.model.change import Phase, Setting
from unmask.model.run import GuestRun, RunKind

from .conftest import Command


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return the state directory of the commands."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "unmask"


def test_nothing_yet(command: Command, folder: Path) -> None:
    answer = command("history")
    assert (answer.code, answer.errors) == (0, "")
    assert answer.output == "No guest has been changed from this account on this machine.\n"
    assert not folder.exists()
    assert json.loads(command("history", "--format", "json").output)["runs"] == []


def test_one_line_a_guest(command: Command, folder: Path) -> None:
    target = FakeTarget()
    first = applied(folder, target, plan_for(target))
    lines = command("history").output.splitlines()
    assert lines[0].split() == ["RUN", "WHAT", "GUEST", "BEFORE", "AFTER", "STATE", "BY"]
    cells = ["fix", "lab/101", "(web)", "kvm64", "host", "done"]
    assert lines[2].split()[:-1] == [first.run, *cells]


def test_all_that_is_known_of_one_run(command: Command, folder: Path) -> None:
    target = FakeTarget()
    plan = plan_for(target, constraints=[CONSTRAINT])
    outcome = applied(folder, target, plan, Orders(reason="ticket 7"))
    answer = command("history", outcome.run)
    assert answer.code == 0
    text = " ".join(answer.output.split())
    for words in (
        "target fake://here",
        "before kvm64 after host gained aes state done",
        "RST001 taken on by",
        "(ticket 7): the guest has to be restarted",
        "Z writing",
    ):
        assert words in text


def test_programs_get_everything(command: Command, folder: Path) -> None:
    target = FakeTarget()
    applied(folder, target, plan_for(target, constraints=[CONSTRAINT]))
    body = json.loads(command("history", "--format", "json").output)
    assert body["schema"] == "unmask.history/1"
    (run,) = body["runs"]
    (guest,) = run["guests"]
    assert (guest["guest"], guest["before"], guest["after"]) == ("lab/101", "kvm64", "host")
    assert (guest["phase"], guest["settled"], guest["undone_by"]) == ("done", True, "")
    assert guest["acknowledged"][0]["code"] == "RST001"
    assert [event["phase"] for event in guest["events"]] == [
        "planned",
        "acknowledged",
        "writing",
        "written",
        "done",
    ]


@pytest.mark.parametrize(
    ("phase", "words"),
    [
        (Phase.WRITING, "NOT SETTLED: writing"),
        (Phase.FAILED, "NOT SETTLED: failed"),
        (Phase.REFUSED, "nothing written"),
        (Phase.UNDONE, "taken back at once"),
    ],
)
def test_what_became_of_it(command: Command, folder: Path, phase: Phase, words: str) -> None:
    guest = GuestRun(place(), "host", Setting(None), Setting("host"))
    with Journal(folder).begin(RunKind.FIX) as writer:
        writer.plan(guest)
        writer.event(guest.place, phase)
        assert f"going on: {words.rsplit(': ', maxsplit=1)[-1]}" in command("history").output
    output = command("history").output
    assert words in output
    assert ("unmask recover" in output) == ("NOT SETTLED" in words)
    assert "(not set)" in output


def test_hostile_names_do_not_reach_the_terminal(command: Command, folder: Path) -> None:
    where = replace(place(), name="a\x1b]0;b\x07c\nd", subject="lab/101")
    guest = GuestRun(where, "host", Setting("x\x1b[2J"), Setting("host"))
    with Journal(folder).begin(RunKind.FIX, "why\x1b[1m") as writer:
        writer.plan(guest)
        writer.event(where, Phase.REFUSED, "no\x1b[5m")
        ident = writer.ident
    for words in (("history",), ("history", ident), ("history", "--format", "json")):
        output = command(*words).output
        assert output.isascii()
        assert "\x1b" not in output
        assert "\x07" not in output


def test_a_journal_that_cannot_be_read_hides_no_other(command: Command, folder: Path) -> None:
    target = FakeTarget()
    outcome = applied(folder, target, plan_for(target))
    bad = folder / "runs" / "20260101-000000-abcdef.jsonl"
    bad.write_text('{"schema":"unmask.run/9"}\n')
    answer = command("history")
    assert answer.code == 3
    assert outcome.run in answer.output
    assert "later version of unmask has written it" in answer.errors


def test_a_run_that_is_not_there(command: Command, folder: Path) -> None:
    del folder
    answer = command("history", "2025")
    assert (answer.code, answer.output) == (2, "")
    assert "there is no run '2025'" in answer.errors
