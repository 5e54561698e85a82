"""The table of guests: what its filters show and how its columns are sorted."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page

from support import page_told, told
from support.browser import Reader
from support.report_pages import Written


@pytest.fixture
def page(lab_report: Written, reader: Reader) -> Page:
    return reader.open(lab_report.html)


@pytest.fixture
def guests(lab_report: Written) -> list[Any]:
    everyone: list[Any] = lab_report.report["guests"]
    return everyone


def fill(page: Page, text: str) -> None:
    page.fill("#filter", text)
    page.wait_for_timeout(50)


def expect(page: Page, subjects: list[str], everyone: int) -> None:
    """The rows that are to be seen are these, and the page tells their number."""
    assert page_told.shown(page) == subjects
    assert page.inner_text("#shown-count").startswith(f"{len(subjects)} of {everyone} ")
    for row in page.locator("#guest-table tr.more").all():
        above = row.locator("xpath=preceding-sibling::tr[1]")
        assert row.is_visible() is above.is_visible()


def test_at_first_everyone_is_shown(page: Page, guests: list[Any]) -> None:
    expect(page, [guest["subject"] for guest in guests], len(guests))


def test_each_node(page: Page, guests: list[Any], lab_report: Written) -> None:
    for host in lab_report.report["hosts"]:
        page.select_option("#filter-node", label=host["name"])
        there = [one["subject"] for one in guests if one["host"] == host["subject"]]
        assert there
        expect(page, there, len(guests))
    page.select_option("#filter-node", index=0)
    expect(page, [guest["subject"] for guest in guests], len(guests))


def test_each_severity(page: Page, guests: list[Any], lab_report: Written) -> None:
    worst = told.worst(lab_report.report)
    offered = page.locator("#filter-severity option").evaluate_all("all => all.map(o => o.value)")
    assert set(offered) == {"", "none", *(worst.get(one["subject"], "none") for one in guests)}
    for word in filter(None, offered):
        page.select_option("#filter-severity", word)
        there = [one["subject"] for one in guests if worst.get(one["subject"], "none") == word]
        assert there
        expect(page, there, len(guests))


@pytest.mark.parametrize(
    ("text", "fits"),
    [
        ("TrueNAS", lambda guest: guest["name"] == "truenas"),
        ("  mail ", lambda guest: "mail" in guest["name"]),
        ("x86-64-v3", lambda guest: "x86-64-v3" in guest["cpu"]["configured"]),
    ],
)
def test_text(page: Page, guests: list[Any], text: str, fits: Callable[[Any], bool]) -> None:
    """Case and blanks around do not count; what a filter finds has the text somewhere."""
    fill(page, text)
    there = page_told.shown(page)
    assert set(there) >= {guest["subject"] for guest in guests if fits(guest)}
    assert 0 < len(there) < len(guests)
    rows = page.locator("#guest-table tbody").locator("visible=true")
    for row in rows.all():
        assert text.strip().lower() in (row.text_content() or "").lower()


def test_all_three_together(page: Page, guests: list[Any], lab_report: Written) -> None:
    worst = told.worst(lab_report.report)
    page.select_option("#filter-node", label="pve2")
    page.select_option("#filter-severity", "high")
    both = [
        one["subject"]
        for one in guests
        if one["host"].endswith("/pve2") and worst.get(one["subject"]) == "high"
    ]
    assert len(both) > 1
    expect(page, both, len(guests))
    fill(page, "gateway")
    expect(page, ["homelab/112"], len(guests))


def test_nothing_fits(page: Page, guests: list[Any]) -> None:
    fill(page, "nobody is called that")
    expect(page, [], len(guests))
    assert re.search(r"\b(no|none|0)\b", page.inner_text("#guests"), re.IGNORECASE)
    fill(page, "")
    expect(page, [guest["subject"] for guest in guests], len(guests))


def natural(text: str) -> list[tuple[int, int, str]]:
    """Numbers as numbers, words without their case."""
    parts = re.findall(r"\d+|\D+", text.lower())
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in parts]


RANKS = {
    "Encryption": ("software", "partial", "unknown", "unseen", "hardware", "not-affected", "none"),
    "Worst finding": (*told.ORDER, "none"),
}
FIELDS = {"Encryption": "status", "Worst finding": "severity"}


def rank(row: Any, column: str) -> Any:
    if column in RANKS:
        return RANKS[column].index(row[FIELDS[column]])
    return row["cells"][column]


def heads(page: Page) -> list[str]:
    return [text.strip() for text in page.locator("#guest-table thead th").all_text_contents()]


def test_every_column_can_be_sorted(page: Page, guests: list[Any]) -> None:
    assert len(heads(page)) >= 9
    for column in heads(page):
        head = page.locator("#guest-table thead th").nth(heads(page).index(column))
        for direction in ("ascending", "descending"):
            head.locator("button").click()
            assert head.get_attribute("aria-sort") == direction
            marked = page.locator("#guest-table thead [aria-sort]:not([aria-sort=none])")
            assert marked.count() == 1
            rows = page_told.guests(page)
            assert len(rows) == len(guests)
            keys = [rank(row, column) for row in rows]
            if direction == "descending":
                keys.reverse()
            if column in RANKS:
                assert keys == sorted(keys), column
            else:
                assert groups(keys) == len(set(keys)), f"{column}: alike ones stand apart"


def groups(keys: list[Any]) -> int:
    return sum(1 for at, key in enumerate(keys) if at == 0 or keys[at - 1] != key)


def test_numbers_are_sorted_as_numbers(rich_report: Written, reader: Reader) -> None:
    page = reader.open(rich_report.html)
    page.evaluate(
        """() => [...document.querySelectorAll('#guest-table tr[data-subject] > th')]
        .forEach((head, at) => { head.textContent = `${[9, 100, 11, 2][at % 4]} same`; })"""
    )
    page.locator("#guest-table thead button").first.click()
    names = [row["cells"]["Guest"] for row in page_told.guests(page)]
    assert names == sorted(names, key=natural)
    assert names[0] == "2 same"
    assert names[-1] == "100 same"


def test_sorting_keeps_what_is_filtered(page: Page, guests: list[Any]) -> None:
    page.select_option("#filter-node", label="pve1")
    before = page_told.shown(page)
    button = page.locator("#guest-table thead th", has_text="Guest").locator("button")
    button.click()
    button.click()
    assert page_told.shown(page) == before[::-1]
    expect(page, before[::-1], len(guests))
