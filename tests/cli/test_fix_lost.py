"""What of `unmask fix` is told where the report is lost, or what was planned is not so any more."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from support import fix_lab
from support.fix_command import Command, FixLab
from unmask import plugins
from unmask.benches import bench
from unmask.benches._schedule import Outcome
from unmask.cli import changing, collecting, settling
from unmask.engine.collect import Collected
from unmask.errors import TargetError, UsageError
from unmask.fixes import plan as planning
from unmask.fixes import run
from unmask.fixes.constraints import OF_THE_AUDIT
from unmask.lab.lab import Lab
from unmask.model.change import Constraint, Phase, Place, Plan, Setting
from unmask.model.finding import About, Rule
from unmask.model.inventory import Inventory, Platform
from unmask.model.run import GuestRun, RunKind
from unmask.model.source import Interrupted

HOST = ("--ack", "MIG002,MIG009,RST001", "--yes")
PUT = "PUT /nodes/{node}/qemu/{vmid}/config"


@pytest.fixture
def lab(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FixLab]:
    fix_lab.impatient(monkeypatch)
    with Lab(pace=0) as made:
        yield FixLab(made, command, tmp_path)


def test_a_report_that_cannot_be_written_is_found_before_anything_is_done(
    lab: FixLab, tmp_path: Path
) -> None:
    there = tmp_path / "nowhere" / "report"
    answer = lab.fix("111", "Westmere", "--ack", "MIG001", "--yes", "--output", str(there))
    assert answer.code == 2
    assert "cannot be written" in answer.errors
    assert lab.writes == []


def test_a_report_that_is_lost_does_not_say_that_nothing_was_done(
    lab: FixLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise UsageError("standard output: cannot be written: No space left on device")

    monkeypatch.setattr(settling.Shown, "show", full)
    answer = lab.fix("101", "host", *HOST)
    assert lab.writes == [PUT]
    assert answer.code == 4
    assert f"unmask history {changing.book().runs()[-1].ident}" in answer.errors


def test_costs_of_another_cpu_than_the_one_that_is_written_are_no_costs(
    lab: FixLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is recommended may change between the plan and the write."""
    apply, plan = run.apply, planning.plan

    def other(*words: Any, **more: Any) -> Plan:
        return replace(plan(*words, **more), after=Setting("Westmere"))

    def late(*words: object, **more: object) -> object:
        monkeypatch.setattr("unmask.cli.fixing.make_plan", other)
        return apply(*words, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(run, "apply", late)
    answer = lab.fix("101", "host", *HOST)
    assert answer.code == 4
    assert "comes to something else now" in " ".join(answer.output.split())
    assert lab.writes == []


def test_a_moment_in_which_nobody_answers_takes_no_change_back(
    lab: FixLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, count = collecting.read, itertools.count(1)

    def sometimes(*words: Any, **more: Any) -> Any:
        if next(count) == 3:  # after the plan and the look right before the write
            raise TargetError("pve1: the API did not answer")
        return read(*words, **more)

    monkeypatch.setattr(collecting, "read", sometimes)
    monkeypatch.setattr("unmask.cli.proving.PAUSE", 0.0)
    lab.options, lab.token = (), "root"
    answer = lab.fix("101", "host", *HOST, "--restart", "--verify", "--auto-undo")
    assert answer.code == 0, answer.output
    assert next(count) > 4
    assert "The guest itself sees AES-NI" in answer.output


def test_a_benchmark_that_fails_takes_no_change_back(
    lab: FixLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = itertools.count(1)

    def once(*_: object) -> dict[str, object]:
        if next(count) > 1:
            raise TargetError("pve1: the API did not answer")
        return {}

    monkeypatch.setattr("unmask.cli.proving.measured", once)
    lab.options, lab.token = (), "root"
    answer = lab.fix("101", "host", *HOST, "--restart", "--verify", "--bench", "--auto-undo")
    assert answer.code == 0, answer.output
    assert "could not be measured again" in " ".join(answer.output.split())


@pytest.mark.parametrize(("number", "writes"), [(1, 0), (2, 0), (3, 3)])
def test_ctrl_c_while_something_is_read_ends_it(
    lab: FixLab, monkeypatch: pytest.MonkeyPatch, number: int, writes: int
) -> None:
    """Of the plan, right before the write, and of the proof: it is no failure to be taken back."""
    read, count = collecting.read, itertools.count(1)

    def interrupted(*words: Any, **more: Any) -> Collected:
        found = read(*words, **more)
        return replace(found, interrupted=next(count) == number)

    monkeypatch.setattr(collecting, "read", interrupted)
    lab.options, lab.token = (), "root"
    answer = lab.fix("101", "host", *HOST, "--restart", "--verify", "--auto-undo")
    assert answer.code == 130
    assert len(lab.writes) == writes


def test_ctrl_c_while_it_is_measured_ends_it(lab: FixLab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "run", lambda *_: Outcome([], interrupted=True))
    lab.options, lab.token = (), "root"
    answer = lab.fix("101", "host", *HOST, "--restart", "--verify", "--bench")
    assert answer.code == 130
    assert lab.writes == []


def test_ctrl_c_while_the_guest_is_looked_into_takes_no_change_back(
    lab: FixLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(_target: str, found: Inventory, _options: object) -> Inventory:
        raise Interrupted(found)

    apply = run.apply

    def late(*words: object, **more: object) -> object:
        monkeypatch.setattr("unmask.visits._visit.visit", stopped)
        return apply(*words, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(run, "apply", late)
    lab.options, lab.token = (), "root"
    answer = lab.fix("101", "host", *HOST, "--restart", "--verify", "--auto-undo")
    assert answer.code == 130
    assert "unmask recover" in answer.errors
    assert lab.writes.count(PUT) == 1


CODES = [
    rule.code
    for rule in plugins.load("unmask.rules", "RULE", Rule)
    if rule.code in OF_THE_AUDIT or rule.about in (About.CHANGE, About.MOVE)
]


@pytest.mark.parametrize("code", CODES)
def test_no_code_is_taken_on_by_another(
    lab: FixLab, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    """Those too that no guest of the lab has to do with."""

    def with_cost(*words: Any, **more: Any) -> Plan:
        cost = Constraint(code, "What it costs.", acknowledged=code in words[4])
        return replace(planning.plan(*words, **more), constraints=(cost,))

    monkeypatch.setattr("unmask.cli.fixing.make_plan", with_cost)
    others = [f"--ack={other}" for other in CODES if other != code]
    answer = lab.fix("101", "host", "--yes", "--restart", *others)
    assert answer.code == 2
    assert f"add --ack {code}." in " ".join(answer.output.split())
    assert lab.writes == []


def test_a_plan_says_that_an_earlier_run_is_not_settled(lab: FixLab) -> None:
    place = Place("pve://x", "homelab/1", "1", "old", Platform.PROXMOX)
    with changing.book().begin(RunKind.FIX) as writer:
        writer.plan(GuestRun(place, "host", Setting(None), Setting("host")))
        writer.event(place, Phase.WRITING)
    answer = lab.fix("101", "host")
    assert answer.code == 2
    assert "run `unmask recover`" in answer.errors
    assert "+cpu: host" in answer.output
