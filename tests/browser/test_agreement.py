"""The page says what the JSON report of the same inventory says."""

from __future__ import annotations

from collections import Counter

import pytest
from playwright.sync_api import Page

from support import page_faults, page_told, told
from support.browser import Reader
from support.report_pages import Written

REPORTS = ("lab_report", "homelab_report", "rich_report")


@pytest.fixture(params=REPORTS)
def report(request: pytest.FixtureRequest) -> Written:
    written: Written = request.getfixturevalue(request.param)
    return written


@pytest.fixture
def page(report: Written, reader: Reader) -> Page:
    opened = reader.open(report.html)
    page_faults.unfold(opened)
    return opened


def test_numbers_of_the_summary(page: Page, report: Written) -> None:
    statuses = Counter(
        load["status"] for guest in report.report["guests"] for load in guest["workloads"]
    )
    assert page_told.counts(page) == told.counts(report.report) | statuses


def test_guests(page: Page, report: Written) -> None:
    rows = {row["subject"]: row for row in page_told.guests(page)}
    worst = told.worst(report.report)
    hosts = {host["subject"]: host["name"] for host in report.report["hosts"]}
    assert list(rows) == [guest["subject"] for guest in report.report["guests"]]
    for guest in report.report["guests"]:
        row = rows[guest["subject"]]
        cells = row["cells"]
        assert guest["name"] in cells["Guest"]
        assert row["severity"] == worst.get(guest["subject"], "none")
        assert row["severity"] in cells["Worst finding"] or row["severity"] == "none"
        assert cells["Node"] == hosts.get(guest["host"], cells["Node"])
        for column in told.FLAGS:
            assert cells[column] == " > ".join(told.cell(guest, column)), guest["subject"]


def test_findings(page: Page, report: Written) -> None:
    """Every one is there, about what it is about, and there is no other."""
    known = page_told.subjects(page, report.report)
    there = [
        (one["code"], one["severity"], known[ident], one["message"])
        for one in page_told.findings(page)
        for ident in one["of"]
    ]
    expected = {
        (one["code"], one["severity"], one["subject"], one["message"])
        for one in report.report["findings"]
    }
    assert len(there) == len(set(there))
    assert set(there) == expected


def test_commands(page: Page, report: Written) -> None:
    there = {command for one in page_told.findings(page) for command in one["commands"]}
    assert there == {one["command"] for one in report.report["findings"] if one["command"]}


def test_what_is_not_known(page: Page, report: Written) -> None:
    unread = page.inner_text("#unread") if report.report["gaps"] else ""
    for gap in report.report["gaps"]:
        assert gap["reason"] in unread


@pytest.mark.parametrize("report", ["lab_report", "homelab_report"], indirect=True)
def test_moves(page: Page, report: Written) -> None:
    known = page_told.subjects(page, report.report)
    names = {host["subject"]: host["name"] for host in report.report["hosts"]}
    there = {(known[ident], node): word for (ident, node), word in page_told.moves(page).items()}
    expected = {(one["guest"], names[one["to"]]): told.move(one) for one in report.moves["moves"]}
    assert expected
    assert {key: word for key, word in there.items() if word != "here"} == expected
    for (subject, node), word in there.items():
        guest = next(one for one in report.report["guests"] if one["subject"] == subject)
        assert (word == "here") is (names[guest["host"]] == node)
