"""The example cluster gets the findings that it was made to show."""

from __future__ import annotations

from collections import defaultdict

from support.etc_pve import collect
from support.golden import ROOT
from unmask import plugins
from unmask.engine.cases import guest_cases
from unmask.engine.run import judge
from unmask.model.finding import Rule
from unmask.model.workload import Finder

CLUSTER = "homelab"
EXPECTED = {
    "101": "low CPU001, low CRY001, low SEC001",
    "102": "low CPU001, low CRY005, low SEC001",
    "103": "low CPU002, low CPU005, low SEC001",
    "104": "low CPU002, low CPU005, low SEC001",
    "105": "low MIG016",
    "106": "low CPU001, low SEC001",
    "107": "medium CPU004",
    "108": "low CPU001, low SEC001",
    "190": "",
    "201": "low CPU005, low SEC001",
    "202": "low CPU001, medium CPU006, low SEC001",
    "203": "low CPU001, low REQ001, low SEC001",
    "204": "low CPU003, low MIG016",
    "205": "info CPU004",
    "206": "low CPU007, high CPU008, low MIG016, low SEC001",
    "207": "low CPU002, low CPU009, low SEC001",
    "301": "high CPU005, low SEC001",
    "302": "high CPU005, low SEC001",
    "303": "low CPU002, low CPU005, low SEC001",
    "304": "low CPU009, low SEC001",
    "305": "low CPU005, low MIG016, low SEC001",
    "390": "",
    "": "medium CLU001, medium CLU002, medium CLU004, low CLU004",
    "alder": "",
    "birch": "",
    "cedar": "info CPU010",
}
"""Findings by guest, node and, for "", the cluster."""


def test_every_guest_and_node_of_the_example_gets_its_findings() -> None:
    inventory = collect(ROOT / "examples" / CLUSTER)
    cases = guest_cases(inventory, plugins.load("unmask.workloads", "WORKLOAD", Finder))
    outcome = judge(inventory, plugins.load("unmask.rules", "RULE", Rule), cases)
    found = defaultdict(list)
    for finding in outcome.findings:
        found[finding.subject].append(f"{finding.problem.severity.word} {finding.code}")
    guests = [guest.subject for guest in inventory.guests]
    subjects = [CLUSTER, *guests, *(host.subject for host in inventory.hosts)]
    assert {
        subject.removeprefix(CLUSTER).removeprefix("/"): ", ".join(
            sorted(found[subject], key=lambda words: words.split()[1])
        )
        for subject in subjects
    } == EXPECTED
    assert outcome.skips == ()
    assert inventory.gaps == ()


def test_the_example_shows_every_family_of_rules() -> None:
    shown = {word[:3] for words in EXPECTED.values() for word in words.split() if word.isupper()}
    families = {rule.code[:3] for rule in plugins.load("unmask.rules", "RULE", Rule)}
    assert shown == families - {"RST"}  # on what a change would cost, which an audit does not plan
