"""Many guests in one run: node by node, and what a failure does to the rest."""

from dataclasses import replace
from pathlib import Path

import pytest

from support.changes import cpu, opening, plan_for
from support.fake_target import FakeTarget, place
from unmask.errors import UsageError
from unmask.fixes import run
from unmask.fixes.journal import Journal
from unmask.fixes.run import Hooks, Orders, Outcome
from unmask.model.change import Phase
from unmask.model.run import RunKind

RESTART = Orders(restart=True)


def several(folder: Path, targets: list[FakeTarget], orders: Orders) -> tuple[Outcome, ...]:
    nodes = ("pve2", "pve1", "pve2")
    plans = [
        replace(plan_for(target), place=place(str(101 + position), node=nodes[position]))
        for position, target in enumerate(targets)
    ]
    book = Journal(folder)
    with book.begin(RunKind.FIX) as writer:
        return run.apply(plans, writer, book, Hooks(opening(targets)), orders)


def test_many_guests_go_node_by_node(tmp_path: Path) -> None:
    outcomes = several(tmp_path, [FakeTarget() for _ in range(3)], Orders())
    assert [outcome.plan.place.ident for outcome in outcomes] == ["102", "101", "103"]
    assert {outcome.phase for outcome in outcomes} == {Phase.DONE}


def test_the_first_failure_stops_the_rest(tmp_path: Path) -> None:
    targets = [FakeTarget(), FakeTarget(refuse="locked"), FakeTarget()]
    outcomes = several(tmp_path, targets, Orders())
    assert [outcome.phase for outcome in outcomes] == [Phase.REFUSED, Phase.PLANNED, Phase.PLANNED]
    assert outcomes[1].problem == "not begun, because lab/102 failed"
    assert [cpu(target) for target in targets] == ["kvm64"] * 3


def test_keep_going_goes_on(tmp_path: Path) -> None:
    targets = [FakeTarget(), FakeTarget(refuse="locked"), FakeTarget()]
    outcomes = several(tmp_path, targets, Orders(keep_going=True))
    assert [outcome.phase for outcome in outcomes] == [Phase.REFUSED, Phase.DONE, Phase.DONE]
    assert [cpu(target) for target in targets] == ["host", "kvm64", "host"]


def test_one_guest_is_not_changed_twice_in_a_run(tmp_path: Path) -> None:
    target = FakeTarget()
    plan, book = plan_for(target), Journal(tmp_path)
    with (
        book.begin(RunKind.FIX) as writer,
        pytest.raises(UsageError, match="more than one change of it"),
    ):
        run.apply([plan, plan], writer, book, Hooks(opening([target])), Orders())
    assert "write host" not in target.calls
