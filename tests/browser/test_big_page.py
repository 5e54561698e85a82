"""Two thousand guests on twenty nodes: the page opens, and its table can be used."""

from __future__ import annotations

from collections import Counter

from playwright.sync_api import Page

from support import page_faults, page_told, told
from support.browser import PHONE, Reader
from support.report_pages import MANY, Written


def wait_for(page: Page, shown: int) -> None:
    page.wait_for_function(
        "start => document.getElementById('shown-count').textContent.startsWith(start)",
        arg=f"{shown} of {MANY} ",
    )


def test_filter_and_sort(big_report: Written, reader: Reader) -> None:
    page = reader.open(big_report.html)
    guests = big_report.report["guests"]
    worst = told.worst(big_report.report)
    wait_for(page, MANY)
    assert len(page_told.shown(page)) == MANY

    host = big_report.report["hosts"][7]["subject"]
    there = [guest["subject"] for guest in guests if guest["host"] == host]
    page.select_option("#filter-node", host)
    wait_for(page, len(there))
    assert page_told.shown(page) == there

    word = worst[next(subject for subject in there if subject in worst)]
    page.select_option("#filter-severity", word)
    some = [subject for subject in there if worst.get(subject) == word]
    wait_for(page, len(some))
    assert page_told.shown(page) == some

    page.select_option("#filter-node", index=0)
    page.select_option("#filter-severity", index=0)
    page.fill("#filter", "guest-1999")
    wait_for(page, 1)
    page.fill("#filter", "")
    wait_for(page, MANY)
    page.locator("#guest-table thead button", has_text="Worst finding").click()
    order = page.locator("#guest-table tr[data-subject]").evaluate_all(
        "rows => rows.map(row => row.dataset.severity)"
    )
    counts = Counter(worst.get(guest["subject"], "none") for guest in guests)
    assert order == [word for word in (*told.ORDER, "none") for _ in range(counts[word])]


def test_it_fits_a_phone(big_report: Written, reader: Reader) -> None:
    page = reader.open(big_report.html, PHONE)
    assert page_faults.sticking_out(page) == []


def test_its_numbers_are_right(big_report: Written, reader: Reader) -> None:
    page = reader.open(big_report.html)
    assert page_told.counts(page) == told.counts(big_report.report)
