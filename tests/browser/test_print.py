"""On paper the report has everything and no controls."""

from __future__ import annotations

import re

import pytest

from support import page_faults
from support.browser import DESKTOP_DARK, Look, Reader
from support.report_pages import Written

CONTROLS = "input, select, button:not(thead button)"
"""Heads of columns stay, as words."""
FOLDED = """() => [...document.querySelectorAll('details > :not(summary)')]
  .filter(box => box.textContent.trim() && box.getBoundingClientRect().height === 0)
  .map(box => box.textContent.trim().slice(0, 60)).slice(0, 5)"""
CUT = """() => [...document.querySelectorAll('main *')]
  .filter(box => box.scrollWidth > box.clientWidth + 1 && box.clientWidth > 1 &&
                 getComputedStyle(box).overflowX !== 'visible')
  .map(box => `${box.tagName}.${box.className} ${box.scrollWidth} of ${box.clientWidth}`)"""
PAGE = re.compile(rb"/Type\s*/Page\b")
WIDTH = 1056
"""CSS pixels of a sheet of letter paper that lies on its side, at 96 an inch; A4 is wider."""
MARGIN = 45


def test_paper_shows_what_is_folded_and_no_controls(lab_report: Written, reader: Reader) -> None:
    page = reader.open(lab_report.html, DESKTOP_DARK)
    page.emulate_media(media="print")
    assert page.locator(CONTROLS).locator("visible=true").count() == 0
    assert page.evaluate(FOLDED) == []


def test_paper_is_white_where_the_screen_is_dark(lab_report: Written, reader: Reader) -> None:
    page = reader.open(lab_report.html, DESKTOP_DARK)
    page.emulate_media(media="print")
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ground) in ("rgb(255, 255, 255)", "rgba(0, 0, 0, 0)")
    ink = page.evaluate("getComputedStyle(document.querySelector('main p')).color")
    assert max(int(part) for part in re.findall(r"\d+", ink)[:3]) < 128


@pytest.mark.parametrize("name", ["lab_report", "rich_report", "hostile_report"])
def test_nothing_is_cut_off_at_the_width_of_paper(
    name: str, request: pytest.FixtureRequest, reader: Reader
) -> None:
    """Paper cannot be scrolled: what sticks out of it, or of a part that scrolls, is lost."""
    report: Written = request.getfixturevalue(name)
    page = reader.open(report.html, Look(WIDTH - 2 * MARGIN))
    page.emulate_media(media="print")
    assert page_faults.sticking_out(page) + page.evaluate(CUT) == []


def test_a_pdf_is_made(lab_report: Written, reader: Reader) -> None:
    data = reader.open(lab_report.html).pdf(prefer_css_page_size=True)
    assert data.startswith(b"%PDF-")
    assert 3 <= len(PAGE.findall(data)) <= 60
