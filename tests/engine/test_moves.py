"""Moves: which are looked at, what rules make of them, and that nothing unread is possible."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import jsonschema
import pytest

from support import golden, move_case, rule_case
from support.inventories import random_inventory
from unmask import plugins
from unmask.engine import evacuate, moves
from unmask.errors import UnreadError
from unmask.model.finding import About, Problem, Rule, Severity
from unmask.model.inventory import GuestState, Inventory, Platform
from unmask.model.migration import MigrationDocument, Question
from unmask.model.move import Answer, Move, MoveCase
from unmask.model.move_kind import COLD, LIVE, MoveKind
from unmask.model.report import Run
from unmask.report import _migration, _migration_records
from unmask.report._paint import Paint

RULES = plugins.load("unmask.rules", "RULE", Rule)
SCHEMA = json.loads((golden.ROOT / "docs/migrate.schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
TWO = {"lab/one": "broadwell", "lab/two": "broadwell"}


def rule(
    *problems: Problem, raises: bool = False, decides: tuple[MoveKind, ...] = (LIVE, COLD)
) -> Rule:
    """Return a rule that says this of every move."""

    def check(_: MoveCase) -> Iterator[Problem]:
        yield from problems
        if raises:
            raise UnreadError("what nobody read", "somebody who reads it")

    return Rule("MIG999", "Made up", About.MOVE, check, decides)


def told(stops: tuple[MoveKind, ...] = (), unsure: tuple[MoveKind, ...] = ()) -> Problem:
    return Problem(Severity.INFO, "So it is.", stops=stops, unsure=unsure)


def only(*rules: Rule, inventory: Inventory | None = None) -> Move:
    (move,) = moves.moves(inventory or move_case.inventory(TWO, [{}]), rules, moves.Asked())
    return move


@pytest.mark.parametrize(
    ("said", "live", "cold"),
    [
        (rule(), "possible", "possible"),
        (rule(told()), "possible", "possible"),
        (rule(told(stops=(LIVE,))), "blocked", "possible"),
        (rule(told(unsure=(COLD,))), "possible", "unknown"),
        (rule(told(unsure=(LIVE,)), told(stops=(LIVE, COLD))), "blocked", "blocked"),
        (rule(raises=True), "unknown", "unknown"),
        (rule(raises=True, decides=(LIVE,)), "unknown", "possible"),
        (rule(told(stops=(COLD,)), raises=True), "unknown", "blocked"),
    ],
)
def test_an_answer_is_the_worst_that_any_rule_says(said: Rule, live: str, cold: str) -> None:
    move = only(said)
    assert (move.live, move.cold) == (live, cold)


def test_what_blocks_is_told_first() -> None:
    move = only(rule(told(), told(unsure=(LIVE,)), told(stops=(COLD,)), raises=True))
    assert [bool(reason.stops) for reason in move.reasons] == [True, False, False, False]
    assert [bool(reason.unsure) for reason in move.reasons] == [False, True, True, False]


def test_what_could_not_be_read_is_named() -> None:
    (reason,) = only(rule(raises=True)).reasons
    assert reason.message == "Not known: what nobody read."
    assert reason.needs == "somebody who reads it"


def test_a_rule_with_a_bug_is_named() -> None:
    def check(_: MoveCase) -> Iterator[Problem]:
        yield told()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as caught:
        only(Rule("MIG998", "Broken", About.MOVE, check))
    assert caught.value.__notes__ == [
        "raised by rule MIG998 about lab/101 to lab/two: a bug in unmask"
    ]


def test_rules_on_other_subjects_are_left_alone() -> None:
    others = [item for item in RULES if item.about is not About.MOVE]
    assert only(*others).reasons == ()


def pairs(inventory: Inventory, asked: moves.Asked) -> list[tuple[str, str]]:
    return [(move.guest, move.target) for move in moves.moves(inventory, [], asked)]


def test_guests_go_to_the_other_nodes_of_their_cluster() -> None:
    hosts = dict.fromkeys(("lab/one", "lab/two", "far/three"), "broadwell")
    guests = [
        {},
        {"subject": "lab/102", "host": "lab/two"},
        {"subject": "far/1", "host": "far/three"},
    ]
    inventory = move_case.inventory(hosts, guests)
    assert pairs(inventory, moves.Asked()) == [("lab/101", "lab/two"), ("lab/102", "lab/one")]
    far = moves.Asked(targets=frozenset({"far/three"}))
    assert pairs(inventory, far) == [("lab/101", "far/three"), ("lab/102", "far/three")]
    one = moves.Asked(guests=frozenset({"lab/102"}))
    assert pairs(inventory, one) == [("lab/102", "lab/one")]
    away = moves.Asked(origins=frozenset({"lab/one"}))
    assert pairs(inventory, away) == [("lab/101", "lab/two")]


def test_hosts_of_libvirt_reach_each_other_and_no_other_platform() -> None:
    hosts = {"one": "broadwell", "two": "broadwell", "three": "broadwell"}
    read = move_case.on_libvirt(move_case.inventory(hosts, [{"host": "one"}]))
    assert [target for _, target in pairs(read, moves.Asked())] == ["two", "three"]
    mixed = replace(
        read,
        hosts=tuple(
            replace(host, platform=Platform.PROXMOX) if host.name == "two" else host
            for host in read.hosts
        ),
    )
    assert [target for _, target in pairs(mixed, moves.Asked())] == ["three"]


def test_a_machine_that_was_only_seen_from_inside_goes_nowhere() -> None:
    inventory = move_case.inventory(TWO, [{}])
    unseen = replace(inventory.guests[0], platform=Platform.UNSEEN)
    assert pairs(replace(inventory, guests=(unseen,)), moves.Asked()) == []


@pytest.mark.parametrize("state", [GuestState.RUNNING, GuestState.STOPPED, GuestState.SUSPENDED])
def test_nothing_is_possible_on_a_host_of_which_nothing_is_known(state: GuestState) -> None:
    inventory = move_case.inventory({"lab/one": "broadwell", "lab/two": None}, [{"state": state}])
    move = only(*RULES, inventory=inventory)
    assert Answer.POSSIBLE not in (move.live, move.cold)


@pytest.mark.parametrize("field", ["ties", "confined"])
def test_nothing_is_possible_where_ties_or_rules_were_not_read(field: str) -> None:
    assert only(*RULES, inventory=move_case.inventory(TWO, [{}])).live is Answer.POSSIBLE
    move = only(*RULES, inventory=move_case.inventory(TWO, [{field: "nobody asked"}]))
    assert (move.live, move.cold) == (Answer.UNKNOWN, Answer.UNKNOWN)


def test_guests_that_differ_in_names_alone_get_one_answer() -> None:
    guests = [{"subject": f"lab/{number}", "guest_name": f"web{number}"} for number in range(50)]
    calls = []

    def check(move: MoveCase) -> Iterator[Problem]:
        calls.append(move.case.guest.subject)
        yield told(stops=(LIVE,))

    counting = Rule("MIG999", "Counts", About.MOVE, check)
    found = moves.moves(move_case.inventory(TWO, guests), [counting], moves.Asked())
    assert [move.guest for move in found] == [f"lab/{number}" for number in range(50)]
    assert {move.live for move in found} == {Answer.BLOCKED}
    assert calls == ["lab/0"]


def test_what_tells_guests_apart_is_no_part_of_any_message() -> None:
    guests = [
        {"subject": "lab/1", "guest_name": "alpha", "cpu": "host", "state": state}
        for state in ("running", "stopped", "suspended", "unknown")
    ]
    for guest in guests:
        inventory = move_case.inventory({"lab/one": "cascadelake", "lab/two": "rome"}, [guest])
        for reason in only(*RULES, inventory=inventory).reasons:
            assert "alpha" not in reason.message
            assert "lab/1" not in reason.message


def test_with_another_cpu_a_guest_is_judged_as_after_a_restart() -> None:
    hosts = {"lab/one": "cascadelake", "lab/two": "broadwell"}
    guests = [{"cpu": "x86-64-v4", "running": "x86-64-v4", "pending": "host"}]
    inventory = move_case.inventory(hosts, guests)
    now = only(*RULES, inventory=inventory)
    assert now.live is Answer.BLOCKED
    asked = moves.Asked(cpu="x86-64-v3", specs={"lab/101": rule_case.spec("x86-64-v3")})
    (then,) = moves.moves(inventory, RULES, asked)
    assert (then.live, then.cold) == (Answer.POSSIBLE, Answer.POSSIBLE)


def test_with_another_cpu_what_stands_still_runs_then() -> None:
    guests = [
        {"state": "stopped"},
        {"subject": "lab/102", "state": "suspended", "lock": "suspended"},
    ]
    asked = moves.Asked(
        cpu="x86-64-v2",
        specs={f"lab/{number}": rule_case.spec("x86-64-v2") for number in (101, 102)},
    )
    found = moves.moves(move_case.inventory(TWO, guests), RULES, asked)
    assert [move.live for move in found] == [Answer.POSSIBLE, Answer.POSSIBLE]


def test_a_guest_without_a_cpu_to_be_asked_about_is_judged_as_it_is() -> None:
    asked = moves.Asked(cpu="x86-64-v4", specs={})
    inventory = move_case.inventory(TWO, [{}])
    assert moves.moves(inventory, RULES, asked) == moves.moves(inventory, RULES, moves.Asked())


@pytest.mark.parametrize("seed", range(40))
def test_any_inventory_is_judged_and_written(seed: int) -> None:
    inventory = random_inventory(seed)
    hosts = tuple(replace(host, platform=Platform.PROXMOX) for host in inventory.hosts)
    guests = tuple(
        replace(guest, host=hosts[number % len(hosts)].subject, platform=Platform.PROXMOX)
        for number, guest in enumerate(inventory.guests)
        if hosts
    )
    inventory = replace(inventory, hosts=hosts, guests=guests)
    asked = moves.Asked(targets=frozenset(host.subject for host in inventory.hosts))
    found = moves.moves(inventory, RULES, asked)
    for move in found:
        blocked = {kind for reason in move.reasons for kind in reason.stops}
        unsure = {kind for reason in move.reasons for kind in reason.unsure}
        for kind, answer in ((LIVE, move.live), (COLD, move.cold)):
            assert (answer is Answer.BLOCKED) is (kind in blocked)
            assert (answer is Answer.UNKNOWN) is (kind in unsure - blocked)
    for host in inventory.hosts:
        plan = evacuate.plan(inventory, host.subject, found)
        question = Question(evacuate=host.subject, matrix=True)
        run = Run("0", "2026-12-01T00:00:00Z", (), complete=True)
        document = MigrationDocument(run, question, inventory, found, plan)
        for width in (0, 40, 100):
            text = _migration.render(document, width, Paint(enabled=False))
            assert "\x1b" not in text
        VALIDATOR.validate(json.loads(_migration_records.render(document)))
