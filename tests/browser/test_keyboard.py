"""All of the report can be used without a mouse."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

from support import page_told
from support.browser import Look, Reader
from support.report_pages import Written

MOST = 2000
"""Presses of Tab after which a page that has not ended is taken for a trap."""

NUMBER = """() => {
  const able = 'a[href], button, input, select, summary, textarea, [tabindex="0"]';
  const all = [...document.querySelectorAll(able)].filter(one =>
    one.checkVisibility() && !one.disabled && !one.closest('[inert]'));
  all.forEach((one, number) => { one.dataset.stop = number; });
  return all.length;
}"""

HERE = """() => {
  const one = document.activeElement;
  if (!one || one === document.body || one === document.documentElement) return null;
  const style = getComputedStyle(one);
  const box = one.getBoundingClientRect();
  const bar = document.querySelector('.top');
  const above = getComputedStyle(bar).position === 'sticky' && !one.closest('.top, .skip');
  const top = above ? bar.getBoundingClientRect().bottom : 0;
  return {
    number: Number(one.dataset.stop ?? -1),
    what: `${one.tagName} ${one.id} ${one.textContent.trim().slice(0, 40)}`,
    ring: (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2) ||
      style.boxShadow !== 'none',
    seen: box.bottom > top + 4 && box.top < innerHeight - 4 &&
      box.right > 0 && box.left < innerWidth,
  };
}"""


def walk(page: Page) -> list[Any]:
    """Return every stop of the Tab key, until it leaves the page."""
    stops: list[Any] = []
    for _ in range(MOST):
        page.keyboard.press("Tab")
        stop = page.evaluate(HERE)
        if stop is None or (stops and stop["number"] == stops[0]["number"]):
            return stops
        stops.append(stop)
    pytest.fail(f"Tab never leaves the page; it goes round: {stops[-5:]}")


def test_tab_reaches_everything_in_order_and_is_seen(lab_report: Written, reader: Reader) -> None:
    page = reader.open(lab_report.html, Look(still=True))
    expected = page.evaluate(NUMBER)
    stops = walk(page)
    numbers = [stop["number"] for stop in stops if stop["number"] >= 0]
    assert "Skip" in stops[0]["what"]
    assert numbers == list(range(expected))
    for fault in ("ring", "seen"):
        assert [stop["what"] for stop in stops if not stop[fault]] == [], fault


def test_the_skip_link_leads_past_the_head(lab_report: Written, reader: Reader) -> None:
    page = reader.open(lab_report.html)
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "report"
    page.keyboard.press("Tab")
    assert page.evaluate("!!document.activeElement.closest('main')")


@pytest.mark.parametrize("key", ["Enter", " "])
def test_a_column_is_sorted(key: str, lab_report: Written, reader: Reader) -> None:
    page = reader.open(lab_report.html)
    head = page.locator("#guest-table thead th", has_text="Node")
    head.locator("button").focus()
    for direction in ("ascending", "descending"):
        page.keyboard.press(key)
        assert head.get_attribute("aria-sort") == direction
        assert page.evaluate("document.activeElement.textContent.trim()") == "Node"


@pytest.mark.parametrize("key", ["Enter", " "])
def test_details_are_unfolded(key: str, lab_report: Written, reader: Reader) -> None:
    page = reader.open(lab_report.html)
    fold = page.locator("#guest-table details").first
    fold.locator("> summary").focus()
    page.keyboard.press(key)
    assert fold.get_attribute("open") is not None
    assert fold.locator(".inner").is_visible()
    page.keyboard.press(key)
    assert fold.get_attribute("open") is None


@pytest.mark.parametrize("key", ["Enter", " "])
def test_a_command_is_copied_whole(key: str, lab_report: Written, reader: Reader) -> None:
    page = reader.open(lab_report.html)
    for command in page.locator("code.cmd").locator("visible=true").all()[:3]:
        button = command.locator("xpath=following::button[1]")
        button.focus()
        page.keyboard.press(key)
        page.get_by_role("status").filter(has_text="copied").wait_for(state="attached")
        assert page.evaluate("navigator.clipboard.readText()") == command.text_content()
        assert page.evaluate("document.activeElement.className") == "copy"


def test_filters_by_keys_alone(lab_report: Written, reader: Reader) -> None:
    page = reader.open(lab_report.html)
    page.locator("#filter").focus()
    page.keyboard.type("truenas")
    page.wait_for_function("document.getElementById('shown-count').textContent.startsWith('1 ')")
    assert page_told.shown(page) == ["homelab/101"]
    page.keyboard.press("Control+A")
    page.keyboard.press("Delete")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "filter-node"
    page.keyboard.press("ArrowDown")
    nodes = {row["node"] for row in page_told.guests(page) if row["shown"]}
    assert len(nodes) == 1


LINKS = (
    "#guest-table td a[href^='#finding-']",
    "article.finding h4 a[href^='#guest-']",
    "#migration td a",
)


@pytest.mark.parametrize("link", LINKS)
def test_a_link_unfolds_what_it_leads_to(link: str, lab_report: Written, reader: Reader) -> None:
    """Also past a filter that hides it, and when it is followed again."""
    page = reader.open(lab_report.html)
    page.fill("#filter", "nothing has this name" if "#guest-" in link else "")
    target = page.evaluate(
        """link => { const one = [...document.querySelectorAll(link)].pop();
        one.closest('details')?.setAttribute('open', '');
        one.focus(); one.click(); return one.hash.slice(1); }""",
        link,
    )
    shown = "id => document.getElementById(id).checkVisibility()"
    page.wait_for_function(shown, arg=target)
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = false })")
    page.evaluate("link => [...document.querySelectorAll(link)].pop().click()", link)
    page.wait_for_function(shown, arg=target)


def test_the_same_on_a_phone(lab_report: Written, reader: Reader) -> None:
    """With a keyboard at a tablet, or a switch."""
    page = reader.open(lab_report.html, Look(390, 844, phone=True, still=True))
    expected = page.evaluate(NUMBER)
    stops = walk(page)
    assert [stop["number"] for stop in stops if stop["number"] >= 0] == list(range(expected))
    assert [stop["what"] for stop in stops if not stop["seen"]] == []
