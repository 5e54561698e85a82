"""Exit codes of questions about moves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from support import move_case
from unmask.engine import move_verdict
from unmask.model.inventory import Gap, GuestState
from unmask.model.migration import MigrationDocument, Plan, Question, Step
from unmask.model.move import Answer, Move
from unmask.model.report import Run

P, B, U = Answer.POSSIBLE, Answer.BLOCKED, Answer.UNKNOWN
VM = ("lab/101",)


def document(
    question: Question,
    *answers: tuple[Answer, Answer],
    state: GuestState = GuestState.RUNNING,
    plan: Plan | None = None,
) -> MigrationDocument:
    """Return moves of one guest to one node after the other."""
    inventory = move_case.inventory({}, [{"state": state}])
    made = tuple(
        Move("lab/101", "lab/one", f"lab/{number}", live, cold)
        for number, (live, cold) in enumerate(answers)
    )
    return MigrationDocument(Run("0", "", (), complete=True), question, inventory, made, plan)


@pytest.mark.parametrize(
    ("question", "answers", "code", "strict"),
    [
        (Question(), [(B, B), (U, U)], 0, 3),
        (Question(matrix=True), [(B, B)], 0, 0),
        (Question(to=("lab/two",)), [(P, P)], 0, 0),
        (Question(to=("lab/two",)), [(B, P)], 1, 1),
        (Question(to=("lab/two",)), [(P, B)], 0, 0),
        (Question(to=("lab/two",)), [(U, P)], 0, 3),
        (Question(to=("lab/two",)), [(P, P), (B, B)], 1, 1),
        (Question(guests=VM), [(P, P), (B, B)], 0, 0),
        (Question(guests=VM), [(U, P), (B, B)], 0, 3),
        (Question(guests=VM), [(B, P), (B, B)], 1, 1),
        (Question(guests=VM), [], 1, 1),
        (Question(cpu="host"), [(B, P)], 1, 1),
    ],
)
def test_what_was_asked_decides(
    question: Question, answers: list[tuple[Answer, Answer]], code: int, strict: int
) -> None:
    asked = document(question, *answers)
    assert move_verdict.exit_code(asked) == code
    assert move_verdict.exit_code(asked, strict=True) == strict


def test_a_guest_that_does_not_run_is_moved_cold() -> None:
    asked = document(Question(to=("lab/two",)), (B, P), state=GuestState.STOPPED)
    assert move_verdict.exit_code(asked) == 0


def test_what_was_not_read_counts_under_strict() -> None:
    asked = document(Question(to=("lab/two",)), (P, P))
    read = replace(asked.inventory, gaps=(Gap("lab/two", "it does not answer"),))
    assert move_verdict.exit_code(replace(asked, inventory=read), strict=True) == 3


@pytest.mark.parametrize(
    ("how", "code", "strict"), [("live", 0, 0), ("cold", 0, 0), ("unknown", 0, 3), ("stays", 1, 1)]
)
def test_a_plan_is_done_where_everybody_leaves(how: str, code: int, strict: int) -> None:
    plan = Plan("lab/one", (Step("lab/101", "", how),))
    asked = document(Question(evacuate="lab/one"), (B, B), plan=plan)
    assert move_verdict.exit_code(asked) == code
    assert move_verdict.exit_code(asked, strict=True) == strict
