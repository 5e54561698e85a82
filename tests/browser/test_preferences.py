"""The report obeys what its reader has told the browser: enlarged, few colours, no motion."""

from __future__ import annotations

import pytest

from support import page_faults
from support.browser import DESKTOP, Look, Reader
from support.report_pages import Written

UNMARKED = """() => [...document.querySelectorAll('main *')]
  .filter(box => box.checkVisibility() && getComputedStyle(box).forcedColorAdjust === 'none')
  .map(box => `${box.tagName}.${box.className}`)"""
MOVING = """() => [...document.querySelectorAll('*')].filter(box => {
  const style = getComputedStyle(box);
  const long = list => list.split(',').some(one => parseFloat(one) > 0.01);
  return long(style.transitionDuration) ||
    (style.animationName !== 'none' && long(style.animationDuration)) ||
    style.scrollBehavior === 'smooth';
}).map(box => `${box.tagName}.${box.className}`).slice(0, 5)"""


def test_enlarged_twice_it_still_fits(lab_report: Written, reader: Reader) -> None:
    """A window of 1280 pixels that is zoomed to 200 % is one of 640."""
    page = reader.open(lab_report.html, Look(640, 400))
    assert page_faults.sticking_out(page) == []
    page_faults.unfold(page)
    assert page_faults.sticking_out(page) == []


def test_text_grows_with_the_readers_own_size(lab_report: Written, reader: Reader) -> None:
    page = reader.open(lab_report.html)
    sizes = "[...document.querySelectorAll('main :is(p, td, th, code, button, input)')].map(one =>"
    sizes += "parseFloat(getComputedStyle(one).fontSize))"
    before = page.evaluate(sizes)
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    assert page.evaluate(sizes) == pytest.approx([2 * size for size in before])


@pytest.mark.parametrize("dark", [False, True])
def test_few_colours(dark: bool, lab_report: Written, reader: Reader) -> None:  # noqa: FBT001
    """With forced colours nothing insists on its own, and the words still say it all."""
    page = reader.open(lab_report.html, Look(dark=dark, forced_colors=True))
    plain = reader.open(lab_report.html, DESKTOP)
    assert page.inner_text("main") == plain.inner_text("main")
    insisting = page.evaluate(UNMARKED)
    assert all("bar" in one or one.startswith(("svg", "rect", "path")) for one in insisting)


def test_no_motion(lab_report: Written, reader: Reader) -> None:
    assert reader.open(lab_report.html, Look(still=True)).evaluate(MOVING) == []
