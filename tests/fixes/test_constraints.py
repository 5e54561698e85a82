"""What a change costs: rules on changes, new findings of the audit, and moves that end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from support import move_case, rule_case
from unmask import plugins
from unmask.engine.cases import guest_cases
from unmask.errors import UnreadError
from unmask.fixes import constraints
from unmask.fixes.constraints import as_changed
from unmask.model.change import Constraint, Reach
from unmask.model.change_case import ChangeCase
from unmask.model.cpu import State
from unmask.model.finding import About, Problem, Rule
from unmask.model.reading import Known, Missing

RULES = plugins.load("unmask.rules", "RULE", Rule)
WEAK = {"like": "broadwell", "without": "aes", "model": 61}
WEAKER = {"lab/one": "broadwell", "lab/two": WEAK}


def judged(
    to: Any,
    hosts: dict[str, Any] | None = None,
    rules: Sequence[Rule] = RULES,
    acks: Sequence[str] = (),
    **guest: Any,
) -> tuple[tuple[Constraint, ...], tuple[Reach, ...]]:
    """Return what giving the guest lab/101 another CPU costs."""
    read = move_case.inventory(hosts or {}, [guest])
    (now,) = guest_cases(read)
    change = ChangeCase(now, as_changed(now, rule_case.spec(to)))
    return constraints.constraints(read, rules, change, acks)


def codes(found: tuple[tuple[Constraint, ...], tuple[Reach, ...]]) -> set[str]:
    return {item.code for item in found[0]}


def test_the_guest_as_it_would_be_has_the_new_cpu_and_nothing_pending() -> None:
    read = move_case.inventory({}, [{"running": "kvm64", "pending": "host", "sees": "kvm64"}])
    (now,) = guest_cases(read)
    then = as_changed(now, rule_case.spec("x86-64-v2-AES"))
    assert then.view.shows("aes")
    assert (then.guest.pending, then.guest.running, then.pending) == (None, None, None)
    assert then.guest.current.label == "x86-64-v2-AES"
    assert then.observed is None
    assert isinstance(now.guest.visit.inside.value.cpu, Known)
    assert isinstance(then.guest.visit.inside.value.cpu, Missing)


def test_a_host_that_is_not_there_leaves_flags_to_it() -> None:
    read = move_case.inventory({"lab/one": None}, [{}])
    (now,) = guest_cases(read)
    assert as_changed(now, rule_case.spec("host")).view.state("aes") is State.HOST


def test_a_node_that_cannot_run_the_new_model_is_a_move_that_ends() -> None:
    found, reach = judged("x86-64-v2-AES", WEAKER)
    told = {item.code: item for item in found}
    assert "two cannot give AES-NI" in told["MIG001"].message
    assert reach == (Reach("two", "possible", "blocked"),)


def test_host_is_guarded_by_nothing() -> None:
    assert "MIG002" in codes(judged("host", WEAKER))


def test_what_stops_moves_already_is_not_told_again() -> None:
    tie = {"kind": "passthrough", "what": "hostpci0"}
    found, reach = judged("Westmere", ties=[tie])
    assert codes((found, reach)) == {"RST001"}
    assert reach == (Reach("two", "blocked", "blocked"),)


def test_a_guest_that_is_off_is_asked_for_its_cold_move() -> None:
    _, reach = judged("x86-64-v2-AES", WEAKER, state="stopped")
    assert reach == (Reach("two", "possible", "blocked"),)


def test_findings_that_the_audit_would_have_then_are_told_now() -> None:
    found, _ = judged({"like": "x86-64-v2", "on": "aes"}, cpu="x86-64-v2")
    (told,) = [item for item in found if item.code == "CPU002"]
    assert "PCLMULQDQ" in told.message
    assert told.message.endswith(".")
    assert told.remedy


def test_findings_that_are_there_already_are_no_cost() -> None:
    aes = {"like": "x86-64-v2", "on": "aes"}
    assert "CPU002" not in codes(judged({**aes, "off": "pcid"}, cpu=aes))


def test_nothing_of_the_audit_is_told_of_a_cpu_that_does_not_start() -> None:
    found, _ = judged("Skylake-Server")
    assert found[0].code == "RST006"
    assert found[0].fatal
    assert not codes((found, ())) & set(constraints.OF_THE_AUDIT)


def unsure(_change: ChangeCase) -> list[Problem]:
    raise UnreadError("what nobody has read.", "somebody who reads")


def broken(_change: ChangeCase) -> list[Problem]:
    raise ZeroDivisionError


def test_what_a_rule_cannot_tell_is_a_cost_too() -> None:
    rule = Rule("RST999", "Made up", About.CHANGE, unsure)
    found, _ = judged("host", rules=[rule])
    assert found == (
        Constraint(
            "RST999",
            "Not known: what nobody has read.",
            remedy="To settle it: somebody who reads.",
        ),
    )


def test_a_rule_with_a_bug_is_not_silent() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        judged("host", rules=[Rule("RST998", "Broken", About.CHANGE, broken)])
    assert "RST998" in caught.value.__notes__[0]


def test_what_is_fatal_comes_first_and_is_never_acknowledged() -> None:
    found, _ = judged("Westmere", acks=["RST007", "RST001"], lock="backup")
    assert [(item.code, item.fatal, item.acknowledged) for item in found[:2]] == [
        ("RST007", True, False),
        ("RST001", False, True),
    ]


def test_many_nodes_are_told_together_and_the_rest_is_counted() -> None:
    hosts = {"lab/one": "broadwell", **{f"lab/n{number}": WEAK for number in range(9)}}
    found, reach = judged("x86-64-v2-AES", hosts)
    (told,) = [item for item in found if item.code == "MIG001"]
    assert told.message.count("cannot give") == constraints.NAMED
    assert told.message.endswith("And 3 more of this kind.")
    assert len(reach) == 9
