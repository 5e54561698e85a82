"""axe-core finds no barrier in the report, folded or not, light or dark, wide or narrow."""

from __future__ import annotations

from pathlib import Path

import pytest

from support import barriers, page_faults
from support.browser import LOOKS, PHONE_DARK, Look, Reader
from support.report_pages import Written


@pytest.mark.parametrize("look", LOOKS, ids=lambda look: look.name)
def test_the_lab(look: Look, lab_report: Written, reader: Reader) -> None:
    page = reader.open(lab_report.html, look)
    page_faults.unfold(page)
    assert barriers.found(page) == {}


def test_the_lab_as_it_opens(lab_report: Written, reader: Reader) -> None:
    assert barriers.found(reader.open(lab_report.html)) == {}


def test_a_report_with_everything(rich_report: Written, reader: Reader) -> None:
    page = reader.open(rich_report.html, PHONE_DARK)
    page_faults.unfold(page)
    assert barriers.found(page) == {}


def test_a_barrier_is_noticed(reader: Reader, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    body = "<main><h1>x</h1><p style='color: #999; background: #fff'>pale</p><input></main>"
    file.write_text(f"<!doctype html><html lang=en><title>x</title>{body}", encoding="utf-8")
    found = " ".join(barriers.found(reader.open(file)))
    assert "serious color-contrast" in found
    assert "critical label" in found
