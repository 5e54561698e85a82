"""What the report looks like: pictures, nothing beside the window, nothing too small to read."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import page_faults
from support.browser import LOOKS, PHONE, Look, Reader
from support.report_pages import Written

REPORTS = ("lab_report", "homelab_report", "rich_report", "hostile_report")
WIDTHS = (320, 360, 390, 768, 1280)
"""CSS pixels; the first is WCAG's for a page that is enlarged four times."""


@pytest.fixture
def report(request: pytest.FixtureRequest) -> Written:
    written: Written = request.getfixturevalue(request.param)
    return written


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: look.name)
def test_pictures_of_the_lab(
    look: Look, lab_report: Written, reader: Reader, tmp_path: Path
) -> None:
    page = reader.open(lab_report.html, look)
    image = page_faults.picture(page, tmp_path, f"lab-{look.name}")
    assert image.width == look.width
    assert image.height > 2 * look.height
    shares = page_faults.colours(image)
    assert len(shares) > 50
    common = max(shares, key=lambda colour: shares[colour])
    assert (sum(common) < 3 * 80) is look.dark, f"most of the page is {common}"
    assert shares[common] < 0.95


@pytest.mark.parametrize("report", REPORTS, indirect=True)
def test_nothing_is_beside_the_window_or_too_small(report: Written, reader: Reader) -> None:
    page = reader.open(report.html, PHONE)
    faults = {}
    for folded in (True, False):
        if not folded:
            page_faults.unfold(page)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            faults[width, folded] = page_faults.sticking_out(page) + page_faults.small_text(page)
    assert {key: found for key, found in faults.items() if found} == {}


def test_what_sticks_out_or_is_small_is_noticed(reader: Reader, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    wide = "<p style='width: 3000px; font-size: 11px'>wide and small</p>"
    inner = "<div style='overflow-x: auto'><p style='width: 3000px'>scrolls by itself</p></div>"
    file.write_text(f"<!doctype html><title>x</title>{inner}{wide}", encoding="utf-8")
    page = reader.open(file)
    found = page_faults.sticking_out(page)
    assert len(found) == 2
    assert found[0].startswith("P.")
    assert page_faults.small_text(page) == ["11: P wide and small"]
