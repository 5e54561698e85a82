"""CPU005 against its fixtures, and many nodes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from support import rule_case
from support.rule_case import RuleCase
from unmask.engine.run import judge
from unmask.model.cpu import Accelerator, HypervisorCpu
from unmask.model.finding import Outcome, Severity
from unmask.rules import cpu008_tsx_model_without_tsx
from unmask.rules.cpu005_host_cannot_give import RULE

KVM, TCG = Accelerator.KVM, Accelerator.TCG
REMOTE = {"like": "broadwell", "complete": False}
"""What libvirt's capabilities say of a host far away: flags beside the listed ones may be there."""


@pytest.mark.parametrize("case", rule_case.cases(RULE.code), ids=lambda case: case.name)
def test_it_says_what_its_fixtures_expect(case: RuleCase) -> None:
    rule_case.hold(RULE, case)


def test_it_names_every_node_and_only_those_that_cannot() -> None:
    hosts = {f"lab/n{number}": "cascadelake" for number in range(6)} | {"lab/old": "broadwell"}
    guests = [
        {"subject": f"lab/{number}", "host": f"lab/n{number}", "cpu": "Skylake-Server-noTSX-IBRS"}
        for number in range(6)
    ]
    found = judge(rule_case.inventory(hosts, guests), [RULE]).findings
    assert len(found) == 6
    for finding in found:
        assert finding.problem.message.endswith("cannot be run in full on old")


def test_equal_inventories_give_equal_answers_though_answers_are_kept() -> None:
    first = rule_case.inventory(
        {"lab/one": "cascadelake", "lab/two": "broadwell"}, [{"cpu": "x86-64-v4"}]
    )
    second = rule_case.inventory(
        {"lab/one": "cascadelake", "lab/two": "cascadelake"}, [{"cpu": "x86-64-v4"}]
    )
    for _ in range(2):
        assert len(judge(first, [RULE]).findings) == 1
        assert judge(second, [RULE]).findings == ()


def test_a_clusterless_host_has_no_peers() -> None:
    inventory = rule_case.inventory({"solo": "broadwell"}, [{"host": "solo", "cpu": "x86-64-v3"}])
    assert judge(inventory, [RULE]).findings == ()


def told(cpu: object, answers: str = "", accelerator: Accelerator = KVM, **more: object) -> Outcome:
    """Judge a libvirt guest whose host's emulators answer whether Skylake-Server is usable."""
    guest = {"host": "far", "platform": "libvirt", "state": "stopped", "cpu": cpu, **more}
    inventory = rule_case.inventory({"far": REMOTE}, [guest])
    offers = tuple(
        HypervisorCpu(
            "x86_64",
            accelerator,
            f"/emulator-{number}",
            usable=(("Skylake-Server", word == "yes"),),
        )
        for number, word in enumerate(answers.split())
    )
    hosts = tuple(replace(host, offers=offers) for host in inventory.hosts)
    rules = [RULE, cpu008_tsx_model_without_tsx.RULE]
    return judge(replace(inventory, hosts=hosts), rules)


@pytest.mark.parametrize(
    ("state", "severity", "words"),
    [
        ("stopped", Severity.HIGH, "so it does not start"),
        ("running", Severity.MEDIUM, "so its next start fails"),
    ],
)
def test_libvirts_own_answer_decides_where_the_hosts_flags_are_not_known(
    state: str, severity: Severity, words: str
) -> None:
    outcome = told("Skylake-Server", "no", state=state)
    (finding,) = outcome.findings
    assert finding.code == "CPU005"
    assert finding.problem.severity is severity
    assert "Skylake-Server has flags that far cannot give" in finding.problem.message
    assert words in finding.problem.message
    assert outcome.skips == ()


def test_a_usable_model_is_neither_found_nor_skipped() -> None:
    outcome = told("Skylake-Server", "yes")
    assert (outcome.findings, outcome.skips) == ((), ())


@pytest.mark.parametrize(
    "outcome",
    [
        pytest.param(told("Skylake-Server"), id="nobody asked"),
        pytest.param(told("Skylake-Server", "yes no"), id="emulators differ"),
        pytest.param(told("Skylake-Server", "no", accelerator=TCG), id="said of emulation"),
        pytest.param(told({"like": "Skylake-Server", "on": "vaes"}, "yes"), id="flag beside it"),
        pytest.param(told({"like": "Skylake-Server", "off": "hle"}, "no"), id="part of it"),
    ],
)
def test_what_libvirts_answer_does_not_cover_stays_open(outcome: Outcome) -> None:
    assert outcome.findings == ()
    assert "CPU005" in {skip.code for skip in outcome.skips}
