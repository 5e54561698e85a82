"""Nothing is written before all that a change costs is taken on: no write reaches the server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.fix_command import Command, FixLab
from unmask import plugins
from unmask.lab.lab import Lab
from unmask.model.finding import About, Rule

COSTS = {
    "RST001": ("101", "host"),
    "RST002": ("123", "host"),
    "RST003": ("110", "Westmere"),
    "RST004": ("126", "Westmere"),
    "RST005": ("115", "host"),
    "RST006": ("130", "EPYC-Rome"),
    "RST007": ("113", "kvm64"),
    "RST008": ("122", "+aes"),
    "RST009": ("112", "Westmere"),
    "RST010": ("126", "kvm64"),
    "RST011": ("101", "custom-unmask"),
    "MIG001": ("101", "+aes"),
    "MIG002": ("101", "host"),
    "MIG003": ("120", "host"),
    "MIG005": ("113", "x86-64-v2"),
    "MIG009": ("103", "host"),
    "CPU002": ("101", "+aes"),
    "SEC001": ("126", "kvm64"),
}
"""A guest of the lab and a CPU that costs what a rule says."""
FATAL = frozenset({"RST005", "RST006", "RST007", "RST008"})


@pytest.fixture(scope="module")
def server() -> Iterator[Lab]:
    with Lab(pace=0) as made:
        yield made


@pytest.fixture
def lab(server: Lab, command: Command, tmp_path: Path) -> FixLab:
    return FixLab(server, command, tmp_path)


def test_every_rule_on_changes_is_driven() -> None:
    rules = plugins.load("unmask.rules", "RULE", Rule)
    assert {rule.code for rule in rules if rule.about is About.CHANGE} <= set(COSTS)


@pytest.mark.parametrize("code", COSTS)
def test_without_its_acknowledgement_nothing_is_written(lab: FixLab, code: str) -> None:
    vm, cpu = COSTS[code]
    before = lab.lab.tree()
    others = [f"--ack={other}" for other in COSTS if other != code]
    answer = lab.fix(vm, cpu, "--yes", "--restart", "--format", "json", *others)
    assert answer.code == 2, answer.errors
    (guest,) = answer.report["guests"]
    found = [item for item in guest["constraints"] if item["code"] == code]
    assert found
    assert not any(item["acknowledged"] for item in found)
    assert [item["fatal"] for item in found] == [code in FATAL] * len(found)
    assert answer.report["verdict"].startswith("Nothing was written: ")
    assert answer.report["run_id"] is None
    assert lab.writes == []
    assert lab.lab.tree() == before


@pytest.mark.parametrize("code", sorted(FATAL))
def test_what_is_fatal_cannot_be_taken_on(lab: FixLab, code: str) -> None:
    vm, cpu = COSTS[code]
    acks = [f"--ack={other}" for other in COSTS]
    answer = lab.fix(vm, cpu, "--yes", *acks)
    assert answer.code == 2
    assert "[stops it]" in " ".join(answer.output.split())
    assert lab.writes == []


@pytest.mark.parametrize(
    ("vm", "said"),
    [
        ("104", "template"),
        ("124", "hibernated"),
        ("200", "container"),
        ("113", "locked (backup)"),
        ("115", "Remove -cpu and its value from args"),
    ],
)  # fmt: skip
def test_it_says_what_stands_in_the_way(lab: FixLab, vm: str, said: str) -> None:
    answer = lab.fix(vm, "Westmere", "--yes")
    assert answer.code == 2
    assert said in " ".join(answer.output.split())
    assert lab.writes == []


def test_yes_alone_takes_nothing_on(lab: FixLab) -> None:
    answer = lab.fix("101", "host", "--yes")
    assert answer.code == 2
    assert "add --ack MIG002 --ack MIG009 --ack RST001." in answer.output
    assert lab.writes == []


def test_all_taken_on_and_nobody_to_be_asked(lab: FixLab) -> None:
    answer = lab.fix("111", "Westmere", "--ack", "MIG001")
    assert answer.code == 2
    assert "add --yes" in answer.output
    assert lab.writes == []


@pytest.mark.parametrize("option", ["--dry-run", "--diff"])
def test_a_look_writes_nothing_whatever_is_taken_on(lab: FixLab, option: str) -> None:
    answer = lab.fix("111", "Westmere", "--ack", "MIG001", "--yes", option)
    assert answer.code == 0
    assert lab.writes == []


def test_nothing_to_change_is_done(lab: FixLab) -> None:
    answer = lab.fix("126", "host", "--yes")
    assert answer.code == 0
    assert "Nothing to change." in answer.output
    assert lab.writes == []


def test_many_with_one_that_cannot_be_changed(lab: FixLab) -> None:
    answer = lab.fix("111,113", "Westmere", "--ack", "MIG001", "--yes")
    assert answer.code == 2
    assert "homelab/113 cannot be changed so; --keep-going leaves it out." in answer.output
    assert lab.writes == []


def test_a_guest_without_a_plan_among_others(lab: FixLab) -> None:
    answer = lab.fix("101,111", "+pclmulqdq", "--yes")
    assert answer.code == 2
    assert answer.output.count("No plan for homelab/") == 2
    assert lab.writes == []


def test_verify_needs_a_way_into_the_guest(lab: FixLab) -> None:
    acks = ("--ack", "MIG002,MIG009,RST001")
    answer = lab.fix("101", "host", *acks, "--yes", "--restart", "--verify")
    assert answer.code == 2
    assert "nobody could look into homelab/101 now" in " ".join(answer.output.split())
    assert lab.writes == []


def test_a_guest_of_the_ha_manager_is_not_written_where_its_restart_would_be_refused(
    lab: FixLab,
) -> None:
    acks = ("--ack", "MIG001,RST001,RST009", "--yes")
    answer = lab.fix("112", "Westmere", *acks, "--restart")
    assert answer.code == 2
    assert "high availability manages homelab/112" in " ".join(answer.output.split())
    assert lab.writes == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--vm", "101"), "--cpu"),
        (("--cpu", "host"), "say which guests"),
        (("--cpu", "host", "--all"), "--all and --select belong together"),
        (("--cpu", "host", "--vm", "101", "--select", "CRY001"), "belong together"),
        (("--cpu", "host", "--vm", "101", "--all", "--select", "CRY001"), "say which guests"),
        (("--cpu", "host", "--vm", "101", "--verify"), "add --restart"),
        (("--cpu", "host", "--vm", "101", "--bench"), "add --verify"),
        (("--cpu", "host", "--vm", "101", "--auto-undo"), "add --restart"),
        (("--cpu", "host", "--vm", "101", "--force-stop"), "add --restart"),
        (("--cpu", "host", "--vm", "101", "--ack", "RST998"), "there is no such rule"),
        (("--cpu", "host", "--vm", "101", "--restart", "--when-stopped"), "exclude each other"),
        (("--cpu", "host", "--vm", "999"), "there is no such guest"),
        (("--cpu", "nonsense", "--vm", "101"), "nonsense"),
        (("--cpu", "host-model", "--vm", "101"), "is libvirt's"),
    ],
)
def test_wrong_words(lab: FixLab, words: tuple[str, ...], said: str) -> None:
    answer = lab.run("fix", f"pve://{lab.lab.address}", "--no-probe", *words)
    assert answer.code == 2
    assert said in answer.errors
    assert lab.writes == []
