"""Guests of the lab whose agent or shell lies, floods or hangs, and answers that get lost."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from support.lab_entered import asked, entered, look, refused, replaced
from unmask.lab.guest_agent import GuestAgent, Outcome
from unmask.lab.lab import Lab

SHELL = ("/bin/sh", "-s")


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with Lab() as made:
        yield made


class Odd(GuestAgent):
    """An agent whose exec-status is what a test says."""

    said: Any = None

    def status(self, pid: int) -> Any:
        super().status(pid)
        return self.said


def shell(lab: Lab, outcome: Outcome) -> GuestAgent:
    """Return 112's agent with a shell of the test's own."""
    return replace(lab.cluster.agents[112], commands={SHELL: outcome}, inside=None, pace=1.0)


@pytest.mark.parametrize(
    "out",
    [
        b"",
        b"\x1b]0;owned\x07" * 1000,
        b"x" * 10_000_000 + b"\n",
        b'{"return": {"exited": true}}',
        bytes(range(256)) * 100,
    ],
)
def test_a_shell_that_prints_something_else_costs_its_own_result(lab: Lab, out: bytes) -> None:
    with replaced(lab, 112, shell(lab, Outcome(out))), entered(lab) as (channel, guests):
        assert "printed nothing that could be read" in refused(channel, guests["112"])[0]
        assert look(channel, guests["123"]).dm_crypt.known


def test_a_flood_is_cut_and_told(lab: Lab) -> None:
    """The agent keeps 16 MiB, which is more than any honest answer."""
    flood = shell(lab, Outcome(b"\x07y\n" * 10_000_000))
    with replaced(lab, 112, flood), entered(lab) as (channel, guests):
        reason, _ = refused(channel, guests["112"])
    assert "answered with more than" in reason


def test_a_program_that_never_ends_is_left_in_time(lab: Lab) -> None:
    hangs = shell(lab, Outcome(seconds=3600))
    with replaced(lab, 112, hangs), entered(lab) as (channel, guests):
        began = time.monotonic()
        reason, needs = refused(channel, guests["112"], 1.5)
        assert time.monotonic() - began < 5
    assert "did not end within" in reason
    assert needs == "a longer --guest-timeout"


@pytest.mark.parametrize(
    "said",
    [
        {}, [], "yes", {"exited": 2}, {"exited": "no"}, {"exited": None},
        {"exited": 1, "out-data": ["x"]}, {"exited": 1, "out-data": 7}, {"exited": 1},
        {"exited": 1, "out-data": "\u20ac"},
    ],
)  # fmt: skip
def test_an_agent_that_answers_in_another_shape_costs_its_own_result(lab: Lab, said: Any) -> None:
    honest = lab.cluster.agents[112]
    odd = Odd(told=honest.told, inside=honest.inside, pace=0)
    odd.said = said
    with replaced(lab, 112, odd), entered(lab) as (channel, guests):
        reason, _ = refused(channel, guests["112"])
    assert "not what Proxmox VE sends" in reason or "printed nothing" in reason


def test_an_answer_that_was_lost_is_not_asked_for_by_another_program(lab: Lab) -> None:
    with entered(lab) as (channel, guests):
        before = len(lab.seen)
        lab.set_fault("truncated=1@exec-status")
        try:
            reason, _ = refused(channel, guests["112"])
        finally:
            lab.clear_faults()
    assert "lost" in reason or "breaks off" in reason or "before the end" in reason
    assert asked(lab, 112, before).count("exec") == 1


@pytest.mark.parametrize("fault", ["resets=1@agent/exec", "5xx=1@agent/exec", "html=1@agent/exec"])
def test_a_program_is_never_started_twice(lab: Lab, fault: str) -> None:
    with entered(lab) as (channel, guests):
        before = len(lab.seen)
        lab.set_fault(fault)
        try:
            refused(channel, guests["112"])
        finally:
            lab.clear_faults()
    sent = [seen for seen in lab.seen[before:] if seen.route.startswith("/nodes")]
    assert len([seen for seen in sent if "agent/exec" in seen.path]) <= 1
