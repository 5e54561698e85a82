"""Running rules: what they find, what they cannot see, and what happens to their bugs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support import rule_case
from unmask import plugins
from unmask.dialects import saved
from unmask.engine.cases import guest_cases
from unmask.engine.run import judge
from unmask.errors import UnreadError
from unmask.model.case import ClusterCase, GuestCase, HostCase
from unmask.model.finding import About, Problem, Rule, Severity, Skip
from unmask.model.inventory import Inventory

TWO = [{"subject": "lab/2"}, {"subject": "lab/1", "guest_name": ""}]


def inventory() -> Inventory:
    """Return two guests on one host of one cluster."""
    return rule_case.inventory({"lab/one": "broadwell"}, TWO)


def always(severity: Severity, code: str, about: About = About.GUEST) -> Rule:
    """Return a rule that finds a problem in every case."""

    def check(_: object) -> Iterator[Problem]:
        yield Problem(severity, f"{code} fires")

    return Rule(code, "Always", about, check)


def test_findings_are_ordered_by_severity_then_code_then_subject() -> None:
    rules = [
        always(Severity.LOW, "CPU902"),
        always(Severity.HIGH, "SEC901"),
        always(Severity.LOW, "CPU901"),
    ]
    said = [(finding.code, finding.subject) for finding in judge(inventory(), rules).findings]
    assert said == [
        ("SEC901", "lab/1"),
        ("SEC901", "lab/2"),
        ("CPU901", "lab/1"),
        ("CPU901", "lab/2"),
        ("CPU902", "lab/1"),
        ("CPU902", "lab/2"),
    ]


def test_findings_name_their_subject_its_name_and_its_host() -> None:
    rules = [always(Severity.INFO, f"CPU90{i}", about) for i, about in enumerate(About)]
    said = [
        (finding.subject, finding.name, finding.host)
        for finding in judge(inventory(), rules).findings
    ]
    assert said == [
        ("lab/1", "1", "lab/one"),
        ("lab/2", "web", "lab/one"),
        ("lab/one", "one", "lab/one"),
        ("lab", "lab", ""),
    ]


def test_each_rule_gets_the_case_that_it_is_about() -> None:
    seen: list[type] = []

    def check(case: object) -> list[Problem]:
        seen.append(type(case))
        return []

    judge(inventory(), [Rule("CPU900", "Looks", about, check) for about in About])
    assert seen == [GuestCase, GuestCase, HostCase, ClusterCase]


def test_what_could_not_be_read_is_a_skip_and_what_was_found_before_stays() -> None:
    def check(case: GuestCase) -> Iterator[Problem]:
        yield Problem(Severity.LOW, "found")
        if case.guest.subject == "lab/1":
            raise UnreadError("the flags were not read", "root")

    outcome = judge(inventory(), [Rule("CPU900", "Half", About.GUEST, check)])
    assert [finding.subject for finding in outcome.findings] == ["lab/1", "lab/2"]
    assert outcome.skips == (Skip("CPU900", "lab/1", "the flags were not read", "root"),)


def test_a_bug_in_a_rule_comes_out_and_names_the_rule_and_the_subject() -> None:
    def check(case: GuestCase) -> Iterator[Problem]:
        raise ZeroDivisionError(case.guest.name)

    with pytest.raises(ZeroDivisionError) as error:
        judge(inventory(), [Rule("CPU900", "Broken", About.GUEST, check)])
    assert "CPU900" in error.value.__notes__[0]
    assert "lab/2" in error.value.__notes__[0]


def test_cases_that_are_handed_in_are_used() -> None:
    whole = inventory()
    (first, _) = guest_cases(whole)
    outcome = judge(whole, [always(Severity.LOW, "CPU900")], (first,))
    assert [finding.subject for finding in outcome.findings] == ["lab/2"]


def test_a_saved_inventory_gives_the_same_findings() -> None:
    rules = plugins.load("unmask.rules", "RULE", Rule)
    guests = [
        {"subject": f"lab/{number}", "cpu": cpu, "os": "win11", "host": host}
        for number, (cpu, host) in enumerate(
            (cpu, host)
            for cpu in ("kvm64", "x86-64-v3", "Haswell", "host")
            for host in ("lab/one", "lab/two", "lab/none")
        )
    ]
    hosts = {"lab/one": "broadwell", "lab/two": "rome", "lab/none": None}
    whole = rule_case.inventory(hosts, guests)
    outcome = judge(whole, rules)
    assert outcome.findings
    assert outcome.skips
    assert judge(saved.load(saved.dump(whole)), rules) == outcome
