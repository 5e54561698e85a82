"""Comma-separated values: whole for programs, harmless in spreadsheets, documented."""

from __future__ import annotations

import csv as reader
import re
from collections import Counter
from dataclasses import replace

import pytest

from support import golden
from support.hostile_document import TEXTS, hostile
from support.report_document import rich
from unmask.report import _csv, csv, csv_findings, csv_workloads

MODULES = {"csv": csv, "csv-findings": csv_findings, "csv-workloads": csv_workloads}
modules = pytest.mark.parametrize("name", MODULES)


def rows(name: str, text: str) -> list[dict[str, str]]:
    found = list(reader.reader(text.split("\r\n")[:-1], strict=True))
    assert tuple(found[0]) == MODULES[name].COLUMNS
    assert {len(row) for row in found} == {len(found[0])}
    return [dict(zip(found[0], row, strict=True)) for row in found[1:]]


def made(name: str) -> list[dict[str, str]]:
    return rows(name, MODULES[name].render(rich(), 80))


@modules
def test_lines_are_those_of_rfc_4180(name: str) -> None:
    for document in (rich(), hostile()):
        text = MODULES[name].render(document, 80)
        assert text.endswith('"\r\n')
        assert text.count("\n") == text.count("\r") == text.count("\r\n")
        assert len(rows(name, text)) == text.count("\r\n") - 1


@modules
def test_no_spreadsheet_takes_a_field_for_a_formula(name: str) -> None:
    text = MODULES[name].render(hostile(), 80)
    for row in rows(name, text):
        for field in row.values():
            assert not field.startswith(_csv.FORMULA)
            assert not re.match(r"\s*[=+@-]", field)
    # Separators that some spreadsheets take instead of the comma do not begin a field either.
    assert all(field[0] == '"' for line in text.split("\r\n")[:-1] for field in (line,))


def test_hostile_names_come_back_as_they_may_be_shown() -> None:
    names = {row["name"] for row in rows("csv", csv.render(hostile(), 80))}
    assert {"'=cmd|' /C calc'!A0", "'+1+1", "'-2+3", "'@SUM(1;1)", "'=1+1"} <= names
    assert '"quoted", and; 2 "separators"' in names
    assert "<script>alert(1)</script>" in names  # no browser reads it
    assert len(rows("csv", csv.render(hostile(), 80))) == len(rich().cases) + len(TEXTS)


@pytest.mark.parametrize(
    ("value", "field"),
    [
        (None, ""),
        (True, "yes"),
        (False, "no"),
        (-3, "-3"),
        (0.5, "0.5"),
        ("-", "'-"),
        ("=1", "'=1"),
        (" \t=1", "'=1"),
        ("\uff1d1", "'\uff1d1"),
        ("a=1", "a=1"),
        (("a", "=b"), "a | =b"),
        (("=a",), "'=a"),
        ((), ""),
        ("x" * 5000, "x" * 3997 + "..."),
    ],
)
def test_what_a_value_becomes(value: _csv.Field, field: str) -> None:
    text = _csv.text(["a"], [{"a": value}])
    assert text == f'"a"\r\n"{field}"\r\n'


def test_one_line_a_guest() -> None:
    guests = {row["subject"]: row for row in made("csv")}
    assert list(guests) == [case.guest.subject for case in rich().cases]
    web, files, router = guests["coast/102"], guests["coast/103"], guests["coast/105"]
    assert (web["aes"], web["clmul"], web["level"], web["looked_inside"]) == (
        "no", "no", "x86-64-v1", "yes",
    )  # fmt: skip
    assert (web["workloads"], web["software"], web["severity"]) == ("2", "2", "high")
    counts = ("looked_inside", "workloads", "software", "partial", "unknown")
    assert [files[name] for name in counts] == ["no", "", "", "", ""]
    assert [guests["coast/104"][name] for name in counts] == ["no", "1", "1", "0", "0"]
    assert (files["pending"], files["clmul"], files["clmul_after_restart"]) == ("host", "no", "yes")
    assert files["command"] == "qm reboot 103"
    assert (router["aes"], router["level"]) == ("depends on host", "")
    assert router["not_read"].startswith("not by the guest agent: it does not answer")
    assert guests["coast/106"]["accepted"] == "1"
    assert guests["coast/108"]["not_checked"] == "4"
    mail = guests["hall/mail"]  # its host's list of flags is not complete
    assert (mail["level"], mail["level_after_restart"]) == ("x86-64-v1", "x86-64-v3+")


def test_a_guest_s_own_word_settles_its_level_and_flags() -> None:
    case = next(case for case in rich().cases if case.guest.subject == "coast/105")
    seen = next(case for case in rich().cases if case.guest.subject == "coast/101").observed
    document = replace(rich(), cases=(replace(case, observed=seen),))
    (row,) = rows("csv", csv.render(document, 80))
    assert (row["level"], row["aes"], row["clmul"]) == ("x86-64-v2", "yes", "no")


def test_one_line_for_all_that_was_said_and_not_said() -> None:
    outcome, inventory = rich().outcome, rich().inventory
    found = made("csv-findings")
    assert Counter(row["kind"] for row in found) == {
        "finding": len(outcome.findings),
        "accepted": len(outcome.accepted),
        "not checked": len(outcome.skips),
        "not read": len(inventory.gaps),
    }
    first, accepted = found[0], next(row for row in found if row["kind"] == "accepted")
    assert (first["severity"], first["code"], first["docs"]) == (
        "high", "CRY001", "docs/rules/CRY001.md",
    )  # fmt: skip
    assert "zfs list shows aes-256-gcm for tank/family. | The keys" in first["evidence"]
    assert accepted["reason"] == "clones get a CPU of their own"


def test_one_line_a_workload() -> None:
    found = {(row["subject"], row["workload"], row["status"]): row for row in made("csv-workloads")}
    tls = found["coast/102", "tls", "software"]
    assert (tls["keeps"], tls["missing"], tls["ports"]) == ("0.0283", "aes pclmulqdq", "443")
    assert found["coast/101", "luks", "not read"]["reason"] == "nobody has looked inside the guest"


def test_a_guest_that_nobody_was_inside_has_a_line_of_its_own() -> None:
    shut = {row["subject"]: row for row in made("csv-workloads") if not row["workload"]}
    assert list(shut) == [
        case.guest.subject for case in rich().cases if not case.guest.visit.inside.known
    ]
    assert {row["status"] for row in shut.values()} == {"not read"}
    assert "it does not answer" in shut["coast/105"]["reason"]
    assert shut["coast/105"]["needs"] == "the guest agent, or --guest-user"


@modules
def test_every_column_is_documented(name: str) -> None:
    page = (golden.ROOT / "docs/formats.md").read_text(encoding="utf-8")
    part = page.split(f"\n### {name}\n", 1)[1].split("\n#", 1)[0]
    assert re.findall(r"^\| `([a-z_]+)` \|", part, re.MULTILINE) == list(MODULES[name].COLUMNS)
