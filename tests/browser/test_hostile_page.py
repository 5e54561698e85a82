"""Texts that want to break out of the page stay texts; `reader` sees to dialogs and requests."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page

from support import page_faults, page_told
from support.browser import DESKTOP, PHONE, Look, Reader
from support.hostile_document import TEXTS
from support.report_pages import Written

ELEMENTS = """() => {
  const count = {};
  for (const one of document.querySelectorAll('*')) {
    const names = one.getAttributeNames().filter(name => name.startsWith('on'));
    if (names.length) throw new Error(`${one.tagName} has ${names}`);
    count[one.tagName.toLowerCase()] = (count[one.tagName.toLowerCase()] || 0) + 1;
  }
  return count;
}"""
OWN = {"script": 1, "style": 1, "link": 1}
"""What a page has of its own, and no more."""
NEVER = ("img", "iframe", "object", "embed", "base", "form", "evil", "font", "audio", "video")
LINKS = "[...document.querySelectorAll('[href], [src]')].map(one => one.href || one.src)"
INVISIBLE = re.compile(
    "[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\u061c\\u200b-\\u200f"
    "\\u202a-\\u202e\\u2060-\\u2069\\ufeff]"
)


@pytest.fixture(params=[DESKTOP, PHONE], ids=lambda look: look.name)
def page(request: pytest.FixtureRequest, hostile_report: Written, reader: Reader) -> Page:
    look: Look = request.param
    opened = reader.open(hostile_report.html, look)
    page_faults.unfold(opened)
    return opened


def test_no_element_comes_of_a_text(page: Page) -> None:
    there: dict[str, Any] = page.evaluate(ELEMENTS)
    assert {name: there.get(name, 0) for name in OWN} == OWN
    assert [name for name in NEVER if name in there] == []


def test_no_link_leads_away(page: Page) -> None:
    address = page.url.partition("#")[0]
    for link in page.evaluate(LINKS):
        assert link.startswith(f"{address}#") or link == "data:,", link


def test_every_link_leads_to_something(page: Page) -> None:
    lost = page.evaluate(
        """() => [...document.querySelectorAll('a[href^="#"]')]
        .filter(one => !document.getElementById(one.hash.slice(1))).map(one => one.outerHTML)"""
    )
    assert lost == []
    twice = page.evaluate(
        """() => [...document.querySelectorAll('[id]')].map(one => one.id)
        .filter((id, at, all) => all.indexOf(id) !== at)"""
    )
    assert twice == []


def test_names_are_read_as_they_are_written(page: Page, hostile_report: Written) -> None:
    """Tags are letters; what cannot be seen is not there."""
    shown = page.evaluate("document.body.textContent")
    assert "<script>alert(1)</script>" in shown
    assert '"><img src=x onerror=alert(1)>' in shown
    assert "{{7*7}}" in shown
    assert "&amp;&#60;&lt;b&gt;" in shown
    assert INVISIBLE.findall(shown) == []
    assert len(page_told.guests(page)) == len(hostile_report.report["guests"])


def test_it_can_be_used_all_the_same(page: Page, hostile_report: Written) -> None:
    page.fill("#filter", "<script>")
    page.wait_for_timeout(200)
    some = page_told.shown(page)
    assert 0 < len(some) < len(hostile_report.report["guests"])
    page.fill("#filter", "")
    for head in page.locator("#guest-table thead button").all():
        head.click()
    for option in page.locator("#filter-node option").all():
        page.select_option("#filter-node", option.get_attribute("value"))
    button = page.locator("button.copy").locator("visible=true").first
    command = button.locator("xpath=preceding-sibling::code[1]").text_content() or ""
    button.click()
    page.get_by_role("status").filter(has_text="copied").wait_for(state="attached")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == command
    assert INVISIBLE.findall(copied) == []
    assert "\n" not in copied, "a pasted line break runs what follows"


def test_the_texts_are_hostile() -> None:
    """Else nothing above would prove anything."""
    assert any("<script>" in text for text in TEXTS)
    assert any("onerror" in text for text in TEXTS)
