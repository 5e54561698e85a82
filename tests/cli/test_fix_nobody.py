"""`unmask fix` where nothing is changed: it says so, and what there is to do about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from support.lab_target import address
from support.unmask_command import Answer
from unmask.lab.lab import Lab

Command = Callable[..., Answer]


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    with Lab(pace=0) as made:
        monkeypatch.setenv("UNMASK_PVE_TOKEN", made.tokens["fix"])
        yield made


def asked(command: Command, lab: Lab, *words: str) -> Answer:
    access = ("--ca-file", str(lab.ca_file), "--cpu", "recommended", "--dry-run")
    return command("fix", address(lab), *access, "--all", "--select", "CRY001,CRY003", *words)


def test_guests_that_nobody_could_enter_are_counted(command: Command, lab: Lab) -> None:
    answer = asked(command, lab)  # this token may not use guest agents
    said = "unmask: no guest has a finding of CRY001, CRY003, but 19 could not be read in full"
    assert answer.code == 0
    assert said in answer.errors


def test_without_a_look_that_is_said(command: Command, lab: Lab) -> None:
    answer = asked(command, lab, "--no-probe")
    said = "no guest has a finding of CRY001, CRY003; with --no-probe nobody has looked into them"
    assert answer.errors == f"unmask: {said}\n"


def test_a_run_that_changed_nothing_offers_no_undo(
    command: Command, lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNMASK_PVE_TOKEN", lab.tokens["audit"])  # it may only read
    words = ("--vm", "122", "--cpu", "x86-64-v2", "--yes", "--ack", "RST001")
    answer = command("fix", address(lab), "--no-probe", "--ca-file", str(lab.ca_file), *words)
    text = " ".join(answer.output.split())
    assert answer.code == 4, text
    assert ", of which nothing is left to take back." in text
    assert "unmask undo" not in text
