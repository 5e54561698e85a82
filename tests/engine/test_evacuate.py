"""Emptying a node: who goes where, what is kept, and who cannot leave."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from support import move_case
from unmask import plugins
from unmask.engine import evacuate, moves
from unmask.model.finding import Rule
from unmask.model.inventory import Inventory
from unmask.model.migration import MigrationDocument, Plan, Question
from unmask.model.report import Run
from unmask.report import _migration
from unmask.report._paint import Paint

RULES = plugins.load("unmask.rules", "RULE", Rule)
THREE = {"lab/one": "cascadelake", "lab/three": "cascadelake", "lab/two": "broadwell"}


def planned(inventory: Inventory, node: str = "lab/one") -> Plan:
    asked = moves.Asked(origins=frozenset({node}))
    return evacuate.plan(inventory, node, moves.moves(inventory, RULES, asked))


def steps(inventory: Inventory) -> dict[str, tuple[str, str]]:
    return {
        step.guest.removeprefix("lab/"): (step.how, step.target.removeprefix("lab/"))
        for step in planned(inventory).steps
    }


def site(*guests: Mapping[str, Any], hosts: Mapping[str, Any] | None = None) -> Inventory:
    """Return guests 1, 2, ... on lab/one, unless they say otherwise."""
    entries = [{"subject": f"lab/{number}", **entry} for number, entry in enumerate(guests, 1)]
    return move_case.inventory(hosts or THREE, entries)


def test_alive_where_that_goes_stopped_where_not() -> None:
    found = steps(
        site(
            {"cpu": "x86-64-v4"},
            {"cpu": "kvm64", "state": "stopped"},
            {"cpu": "kvm64", "lock": "backup"},
            {"cpu": "kvm64", "ties": [{"kind": "confidential", "what": "amd-sev", "cold": False}]},
        )
    )
    assert found["1"] == ("live", "three")
    assert found["2"][0] == "cold"
    assert found["3"] == ("stays", "")
    assert found["4"][0] == "cold"


def test_the_node_with_fewest_guests_is_taken() -> None:
    here = [{"cpu": "kvm64"} for _ in range(4)]
    there = [{"cpu": "kvm64", "host": "lab/two"} for _ in range(2)]
    plan = planned(site(*here, *there))
    assert plan.loads == (("lab/three", 0, 3), ("lab/two", 2, 3))
    assert {step.how for step in plan.steps} == {"live"}


def test_those_with_the_fewest_choices_come_first() -> None:
    guests = [{"cpu": "kvm64"}, {"cpu": "kvm64"}, {"cpu": "x86-64-v4"}, {"cpu": "x86-64-v4"}]
    plan = planned(site(*guests))
    assert [after for _, _, after in plan.loads] == [2, 2]


def test_a_rule_keeps_guests_apart_also_among_those_that_leave() -> None:
    def kept(other: int) -> dict[str, Any]:
        return {"cpu": "kvm64", "confined": [{"rule": "apart", "apart": [f"lab/{other}"]}]}

    found = steps(site(kept(2), kept(1)))
    assert {how for how, _ in found.values()} == {"live"}
    assert {target for _, target in found.values()} == {"two", "three"}


def test_a_third_of_those_that_are_kept_apart_has_no_place() -> None:
    every = ["lab/1", "lab/2", "lab/3"]
    guests = [
        {"cpu": "kvm64", "confined": [{"rule": "apart", "apart": [o for o in every if o != mine]}]}
        for mine in every
    ]
    assert sorted(how for how, _ in steps(site(*guests)).values()) == ["live", "live", "stays"]


def test_those_that_belong_together_go_together() -> None:
    pair = {"cpu": "kvm64", "confined": [{"rule": "pair", "together": ["lab/1", "lab/2"]}]}
    found = steps(site(pair, pair, {"cpu": "kvm64", "host": "lab/three"}))
    assert found["1"] == found["2"]


def test_one_does_not_go_where_another_that_belongs_to_it_cannot() -> None:
    rule = {"rule": "pair", "together": ["lab/1", "lab/2"]}
    tie = {"kind": "passthrough", "what": "hostpci0", "nodes": ["three"]}
    free, held = {"cpu": "kvm64", "confined": [rule]}, {"cpu": "kvm64", "confined": [rule]}
    found = steps(site(free, {**held, "ties": [tie]}, {"cpu": "kvm64", "host": "lab/two"}))
    assert found["1"] == found["2"] == ("live", "three")
    stuck = steps(site(free, {**held, "ties": [{**tie, "nodes": []}]}))
    assert [how for how, _ in stuck.values()] == ["stays", "stays"]


def test_who_stays_for_the_sake_of_others_is_told_so() -> None:
    rule = {"rule": "apart", "apart": ["lab/1", "lab/2"]}
    guest = {"cpu": "kvm64", "confined": [rule]}
    read = site(guest, guest, hosts={"lab/one": "broadwell", "lab/two": "broadwell"})
    found = moves.moves(read, RULES, moves.Asked())
    run = Run("0", "2026-12-01T00:00:00Z", (), complete=True)
    plan = evacuate.plan(read, "lab/one", found)
    document = MigrationDocument(run, Question(evacuate="lab/one"), read, found, plan)
    text = _migration.render(document, 200, Paint(enabled=False))
    assert "cannot leave: the cluster's rules on who may share a node leave none" in text
    assert "no other node" not in text


def test_those_that_are_not_asked_about_come_along_by_themselves() -> None:
    pair = {"cpu": "kvm64", "confined": [{"rule": "pair", "together": ["lab/1", "lab/2"]}]}
    read = site(pair, pair)
    found = moves.moves(read, RULES, moves.Asked(guests=frozenset({"lab/1"})))
    (step,) = evacuate.plan(read, "lab/one", found, ["lab/1"]).steps
    assert step.how == "live"


def test_a_preference_is_kept_where_there_is_a_choice() -> None:
    likes = {"rule": "prefer", "nodes": ["two"], "strict": False}
    crowd = [{"cpu": "kvm64", "host": "lab/two"} for _ in range(5)]
    found = steps(site({"cpu": "kvm64", "confined": [likes]}, *crowd))
    assert found["1"] == ("live", "two")


def test_a_replica_goes_before_a_copy_of_the_disk() -> None:
    tie = {"kind": "local-disk", "what": "scsi0", "nodes": ["two"], "copied_to": ["three"]}
    crowd = [{"cpu": "kvm64", "host": "lab/two"} for _ in range(5)]
    plan = planned(site({"cpu": "kvm64", "ties": [tie]}, *crowd))
    assert (plan.steps[0].target, plan.steps[0].with_disks) == ("lab/two", False)


def test_what_is_not_known_is_no_plan() -> None:
    plan = planned(site({"cpu": "kvm64", "ties": "no storage.cfg"}))
    assert plan.steps[0].how == "unknown"
    assert any("no storage.cfg" in reason.message for reason in plan.steps[0].reasons)
    assert plan.loads == (("lab/three", 0, 0), ("lab/two", 0, 0))


def test_a_node_that_is_alone_keeps_its_guests() -> None:
    plan = planned(site({"cpu": "kvm64"}, hosts={"lab/one": "broadwell"}))
    assert [step.how for step in plan.steps] == ["stays"]
    assert plan.loads == ()


def test_a_guest_that_stays_has_its_reasons() -> None:
    plan = planned(site({"cpu": "kvm64", "lock": "backup"}))
    assert [reason.code for reason in plan.steps[0].reasons] == ["MIG012"]
