"""One guest, one command: what rules advise apart comes out as one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from support.documents import document, lab
from support.hostile_document import hostile
from support.report_document import rich
from unmask.engine.merge import merge
from unmask.engine.site import of_site
from unmask.model.finding import Finding, Outcome, Problem, Severity
from unmask.model.inventory import GuestState, Inventory, Platform
from unmask.model.report import Document
from unmask.report._actions import Action, actions, first_sentence


def found(code: str, severity: Severity, remedy: str = "Do it.", command: str = "") -> Finding:
    problem = Problem(severity, "It is wrong.", remedy=remedy, command=command)
    return Finding(code, code, "lab/101", "nas", "lab/one", problem)


def done(*findings: Finding, page: Document | None = None, **guest: Any) -> Action | None:
    """Return the action for lab/101, a running guest of Proxmox VE on a known node."""
    inventory: Inventory = page.inventory if page else lab()
    guests = tuple(
        replace(one, **guest) if one.subject == "lab/101" else one for one in inventory.guests
    )
    made = document(Outcome(findings), replace(inventory, guests=guests))
    made = replace(made, run=page.run if page else made.run)
    return next(iter(actions(made)), None)


def command(*findings: Finding, **guest: Any) -> str:
    action = done(*findings, **guest)
    assert action
    return action.command


HIGH, LOW = Severity.HIGH, Severity.LOW
AES = found("CRY002", HIGH, "Add +aes.", "qm set 101 --cpu kvm64,flags=+aes")
GCM = found("CRY004", LOW, "Use EPYC.", "qm set 101 --cpu EPYC")
WAITS = found("CPU009", LOW, "Restart it.", "qm reboot 101")
RECOMMENDED = "unmask fix lab --vm 101 --cpu recommended --dry-run"


def test_what_several_rules_say_of_encryption_is_one_command() -> None:
    action = done(GCM, AES)
    assert action
    assert (action.subject, action.name) == ("lab/101", "nas")
    assert (action.codes, action.severity) == (("CRY002", "CRY004"), HIGH)
    assert action.command == RECOMMENDED


def test_a_change_that_waits_is_enough_unless_something_is_left() -> None:
    assert command(WAITS, found("CRY004", LOW, "It waits.", "qm reboot 101")) == "qm reboot 101"
    assert command(WAITS, GCM) == RECOMMENDED


def test_what_decides_comes_before_what_is_worse() -> None:
    missing = found("CPU006", LOW, "Define the model again. Do it first.")
    action = done(AES, missing)
    assert action
    assert (action.what, action.command) == ("Define the model again.", "")
    assert action.severity is HIGH
    emulated = found("CPU004", LOW, "Delete kvm: 0.", "qm set 101 --delete kvm")
    assert command(AES, emulated) == "qm set 101 --delete kvm"
    system = found("REQ001", LOW, "Use v3.", "qm set 101 --cpu x86-64-v3")
    assert command(AES, system) == "unmask fix lab --vm 101 --cpu x86-64-v3 --dry-run"


def test_flags_beside_the_model_are_added_and_nothing_else_is_touched() -> None:
    flags = found("SEC001", LOW, "Turn it on.", "qm set 101 --cpu 'kvm64,flags=+ssbd'")
    flags = replace(flags, problem=replace(flags.problem, flags=("md_clear", "ssbd")))
    assert command(flags) == "unmask fix lab --vm 101 --cpu +md_clear,+ssbd --dry-run"


def test_a_rule_s_own_value_is_taken_only_where_ours_does_the_same() -> None:
    older = found("CPU007", LOW, "Write it.", "qm set 101 --cpu Haswell-noTSX")
    assert command(older) == "unmask fix lab --vm 101 --cpu Haswell-noTSX --dry-run"
    without = found("CPU005", LOW, "Use it.", "qm set 101 --cpu 'Haswell,flags=-pcid'")
    assert command(without) == "qm set 101 --cpu 'Haswell,flags=-pcid'"
    spec = lab().guests[1].configured
    own = replace(spec, written="Haswell,flags=+pcid")
    assert command(older, configured=own) == "qm set 101 --cpu Haswell-noTSX"


def test_who_cannot_be_changed_gets_no_plan() -> None:
    action = done(AES, state=GuestState.SUSPENDED)
    assert action
    assert (action.what.split(",")[0], action.command) == ("Wake it and shut it down", "")
    assert command(AES, template=True) == AES.problem.command
    assert command(AES, lock="suspended") == ""


def test_a_rented_machine_gets_its_letter() -> None:
    rented = found("CPU013", Severity.MEDIUM, "Ask its provider.")
    made = done(rented, platform=Platform.UNSEEN)
    assert made
    assert made.command == "unmask audit lab --ticket"
    worse = found("CRY001", Severity.HIGH, "Ask for AES.")
    both = done(worse, rented, platform=Platform.UNSEEN)
    assert both
    assert (both.what, both.command) == ("Ask its provider.", "unmask audit lab --ticket")
    assert command(AES, platform=Platform.UNSEEN) == ""


def test_a_host_that_is_not_known_is_no_base_for_a_choice() -> None:
    blind = replace(AES, subject="lab/104", problem=replace(AES.problem, command=""))
    (action,) = actions(document(Outcome((blind,))))
    assert (action.what, action.command) == ("Add +aes.", "")


def test_the_nodes_common_ground_is_a_command_too() -> None:
    moves = found("MIG016", LOW, "If it must move, choose from unmask baseline.")
    assert command(moves) == "unmask baseline lab"


def test_nothing_is_said_of_who_has_nothing_to_do() -> None:
    note = found("CPU004", Severity.INFO, "Nothing can run it faster.")
    assert done(note) is None
    assert done(found("CPU001", LOW, "")) is None
    elsewhere = replace(AES, subject="lab/one")
    assert actions(document(Outcome((elsewhere,)))) == ()
    bare = done(found("TST001", LOW, "", "qm set 101 --cpu host"))
    assert bare
    assert bare.what == "It is wrong."


def test_the_worst_guest_comes_first_then_as_in_the_inventory() -> None:
    words = [(item.severity, item.subject) for item in actions(rich())]
    assert words == sorted(words, key=lambda pair: -pair[0])
    assert words[0][1] == "coast/101"
    assert len({subject for _, subject in words}) == len(words)


def targets(*names: str, location: str = "") -> str:
    page = document(Outcome((AES,)))
    page = replace(page, run=replace(page.run, targets=names))
    action = done(AES, page=page, location=location)
    assert action
    return action.command.split()[2]


def test_the_target_is_the_one_that_has_the_guest() -> None:
    assert targets("pve://a") == "pve://a"
    assert targets("pve://a", "pve://ab", location="pve://a/nodes/one/qemu/101") == "pve://a"
    assert targets("a.json", "b.json") == "TARGET"
    assert targets("copy/", "b", location="copy/nodes/one/101.conf") == "copy/"
    assert targets("x\x1b[31m") == "TARGET"
    page = document(Outcome((AES,)))
    page = replace(page, run=replace(page.run, targets=("my copy",)))
    action = done(AES, page=page)
    assert action
    assert action.command.startswith("unmask fix 'my copy' --vm 101 ")


@pytest.mark.parametrize("ident", ["-x", "1 2", "a,b", "", "'", "$(id)", "\n"])
def test_a_guest_without_a_plain_name_has_the_rule_s_own_command(ident: str) -> None:
    guest = {"ident": ident, "name": ident, "subject": "lab/101"}
    assert command(AES, **guest) == "unmask fix lab --vm lab/101 --cpu recommended --dry-run"


@pytest.mark.parametrize("targets", [("a.json", "b.json"), ("all.json",)])
def test_a_guest_of_a_site_is_called_as_its_own_target_calls_it(targets: tuple[str, ...]) -> None:
    both = merge([of_site(lab(), "bern"), of_site(lab(), "oslo")]).inventory
    findings = tuple(replace(AES, subject=f"{site}:lab/101") for site in ("bern", "oslo"))
    page = document(Outcome(findings), both)
    page = replace(page, run=replace(page.run, targets=targets))
    words = [item.command.split()[2:5] for item in actions(page)]
    if len(targets) > 1:
        assert words == [["TARGET", "--vm", "101"]] * 2
    else:
        names = ["bern:nas", "oslo:nas"]
        assert words == [["all.json", "--vm", name] for name in names]


def test_hostile_names_reach_no_command_line() -> None:
    for action in actions(hostile()):
        if action.command.startswith("unmask "):
            assert action.command.split()[2] == "TARGET"
            assert ";" not in action.command


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Use EPYC. It waits.", "Use EPYC."),
        ("See /etc/pve/cpu-models.conf. For Windows it is another.",
         "See /etc/pve/cpu-models.conf."),
        ("Use v1.2 of it.", "Use v1.2 of it."),
        ("no stop", "no stop"),
        ("", ""),
    ],
)  # fmt: skip
def test_a_sentence_ends_where_the_next_one_begins(text: str, first: str) -> None:
    assert first_sentence(text) == first
