"""The JUnit report is well-formed, counts right, and says what each rule found in each subject."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import defusedxml.ElementTree
import junitparser
import pytest
from hypothesis import given

from support import golden
from support.documents import document, finding
from support.hostile_document import hostile
from support.report_document import rich
from support.spoilt import FUZZ, NAMES, spoilt
from unmask.model.finding import Accepted, Outcome, Problem, Severity, Skip
from unmask.model.inventory import Inventory
from unmask.model.report import Document
from unmask.report.junit import GAPS, INSIDE, NOT_INSIDE, render

LOW = Problem(Severity.LOW, "it is slow", ("The host has AES.",), "Change it.", "qm set 100")
INFO = Problem(Severity.INFO, "only to be known")


def parsed(of: Document) -> Any:
    """Return the root element; `defusedxml` reads it as servers do, and refuses what is no XML."""
    return defusedxml.ElementTree.fromstring(render(of, 80).encode())


def case(of: Document, code: str, subject: str) -> Any:
    found = [
        item
        for item in parsed(of).iter("testcase")
        if item.get("classname").startswith(code) and item.get("name").split(" ")[0] == subject
    ]
    assert len(found) == 1
    return found[0]


def outcome(of: Document, code: str, subject: str) -> Any:
    children = list(case(of, code, subject))
    assert len(children) == 1
    return children[0]


def counted(element: Any) -> dict[str, int]:
    return {key: int(element.get(key)) for key in ("tests", "failures", "errors", "skipped")}


def check_counts(of: Document) -> None:
    """Hold every number against what is there, as another program counts it."""
    root = parsed(of)
    theirs: Any = junitparser.JUnitXml.fromstring(render(of, 80).encode())
    theirs.update_statistics()
    totals = {"tests": theirs.tests, "failures": theirs.failures, "errors": theirs.errors}
    assert root.attrib == {"name": "unmask", **{key: str(count) for key, count in totals.items()}}
    for suite, other in zip(root, theirs, strict=True):
        told = (other.tests, other.failures, other.errors, other.skipped)
        assert tuple(counted(suite).values()) == told


def test_the_report_is_as_expected() -> None:
    golden.check("report/rich.junit.xml", render(rich(), 80))


@pytest.mark.parametrize("of", [rich(), hostile(), document(), document(Outcome(), Inventory())])
def test_the_counts_are_right(of: Document) -> None:
    check_counts(of)


@FUZZ
@given(NAMES)
def test_any_name_gives_a_report(names: list[str]) -> None:
    of = spoilt(names)
    check_counts(of)
    seen = [(item.get("classname"), item.get("name")) for item in parsed(of).iter("testcase")]
    assert len(seen) == len(set(seen))


def test_another_program_writes_the_same_again() -> None:
    text = render(rich(), 80)
    theirs: Any = junitparser.JUnitXml.fromstring(text.encode())
    both = (text.encode(), theirs.tostring())
    roots = [defusedxml.ElementTree.fromstring(item) for item in both]
    flat = [[(item.tag, item.attrib, item.text) for item in root.iter()] for root in roots]
    assert flat[0] == flat[1]


@pytest.mark.parametrize("of", [rich(), hostile()])
def test_no_test_comes_twice(of: Document) -> None:
    """GitLab would leave the second one out."""
    names = [(item.get("classname"), item.get("name")) for item in parsed(of).iter("testcase")]
    assert len(names) == len(set(names))
    assert all(name for pair in names for name in pair)


def test_each_rule_is_tried_on_each_subject_that_it_looks_at() -> None:
    suites = {suite.get("name").split(" ")[0]: suite for suite in parsed(rich())}
    guests, hosts = len(rich().cases), len(rich().inventory.hosts)
    assert counted(suites["CPU001"])["tests"] == guests
    assert counted(suites["CPU010"])["tests"] == hosts
    assert counted(suites["CLU001"])["tests"] == len(rich().inventory.clusters)
    assert not any(code.startswith("RST") or code == "MIG001" for code in suites)


def test_a_finding_is_a_failure_with_everything_that_helps() -> None:
    failure = outcome(
        document(Outcome((finding("TST001", "lab/100", "gate", LOW),))), "TST001", "lab/100"
    )
    assert failure.tag == "failure"
    assert failure.attrib == {"type": "low", "message": "it is slow"}
    assert failure.text.splitlines() == [
        "low: it is slow",
        "- The host has AES.",
        "remedy: Change it.",
        "command: qm set 100",
        "more: unmask explain TST001",
    ]


def test_all_that_a_rule_says_of_a_subject_is_one_failure() -> None:
    high = replace(LOW, severity=Severity.HIGH, message="it is very slow")
    both = tuple(finding("TST001", "lab/100", "gate", problem) for problem in (LOW, high, INFO))
    failure = outcome(document(Outcome(both)), "TST001", "lab/100")
    assert failure.attrib == {"type": "high", "message": "it is very slow (and 1 more)"}
    assert "low: it is slow" in failure.text
    assert "info: only to be known" in failure.text


def test_what_is_only_to_be_known_passes() -> None:
    of = document(Outcome((finding("TST001", "lab/100", "gate", INFO),)))
    printed = outcome(of, "TST001", "lab/100")
    assert printed.tag == "system-out"
    assert printed.text.startswith("info: only to be known")


def test_what_could_not_be_checked_is_skipped_with_the_reason() -> None:
    of = document(Outcome(skips=(Skip("TST001", "lab/100", "no flags", "the file cpuinfo"),)))
    skipped = outcome(of, "TST001", "lab/100")
    assert skipped.tag == "skipped"
    assert skipped.attrib == {"type": "unread"}
    assert skipped.text == "not checked: no flags; needs the file cpuinfo"


def test_what_was_found_before_something_was_missing_fails() -> None:
    found = (finding("TST001", "lab/100", "gate", LOW),)
    of = document(Outcome(found, (Skip("TST001", "lab/100", "no flags"),)))
    failure = outcome(of, "TST001", "lab/100")
    assert failure.tag == "failure"
    assert "not checked: no flags" in failure.text


def test_what_was_accepted_is_skipped_with_the_reason() -> None:
    item = Accepted(finding("TST001", "lab/100", "gate", LOW), "a toy", "2027-01-31")
    skipped = outcome(document(Outcome(accepted=(item,))), "TST001", "lab/100")
    assert skipped.tag == "skipped"
    assert skipped.get("type") == "accepted"
    assert skipped.text == "accepted until 2027-01-31: a toy (it is slow)"


def test_where_nobody_has_looked_inside_nothing_passes_that_needs_it() -> None:
    for code in ("CRY004", "REQ003", "CPU012"):
        shut = outcome(rich(), code, "coast/103")
        assert (shut.tag, shut.text) == ("skipped", NOT_INSIDE)
        assert list(case(rich(), code, "coast/101")) == []
    assert list(case(rich(), "CPU007", "coast/103")) == []


def test_what_could_not_be_read_is_an_error_in_a_suite_of_its_own() -> None:
    suite = next(item for item in parsed(rich()) if item.get("name") == GAPS)
    assert counted(suite) == {"tests": 3, "failures": 0, "errors": 3, "skipped": 0}
    assert suite[2].get("name") == "pve://tern.example.org"
    assert suite[2][0].attrib == {"type": "unread", "message": "no answer within 60 seconds"}


def test_a_dot_does_not_cut_the_class() -> None:
    """Jenkins takes what stands before the last dot for a package."""
    of = document(Outcome((replace(finding("TST001", "a", "", LOW), title="TLS 1.3 is slow"),)))
    assert parsed(of)[0][0].get("classname") == "TST001 TLS 1_3 is slow"


def test_what_xml_forbids_is_left_out() -> None:
    text = render(hostile(), 80)
    forbidden = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
    assert not re.search(forbidden, text)
    assert "CDATA" in text  # the name is there
    assert "<evil/>" not in text


@pytest.mark.parametrize("of", [rich(), hostile()])
def test_only_what_jenkins_knows_is_written(of: Document) -> None:
    """The elements and attributes of junit-10.xsd, by which its xUnit plugin refuses files."""
    told = {"type", "message"}
    known = {
        "testsuites": {"name", "tests", "failures", "errors"},
        "testsuite": {"name", "tests", "failures", "errors", "skipped", "timestamp"},
        "testcase": {"name", "classname"},
        "failure": told,
        "error": told,
        "skipped": told,
        "system-out": set(),
    }
    for element in parsed(of).iter():
        assert set(element.attrib) <= known[element.tag]


def test_rules_that_look_only_inside_are_known() -> None:
    """Where nobody has looked, they say nothing of a guest that they could judge."""
    shut = tuple(case for case in rich().cases if not case.guest.visit.inside.known)
    assert shut
    asked = {rule.code for rule in rich().rules if rule.code.startswith(INSIDE)}
    assert asked >= {"CRY001", "CRY010", "REQ002", "REQ003", "CPU012"}
    for rule in (rule for rule in rich().rules if rule.code in asked - {"CRY002"}):
        for one in shut:  # CRY002 finds disks from outside
            assert list(rule.check(one)) == [], rule.code


def test_the_same_document_gives_the_same_text() -> None:
    assert render(rich(), 80) == render(rich(), 0)
