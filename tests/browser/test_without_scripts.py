"""Where scripts do not run, nothing is missing but the controls."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from support import page_faults, page_told
from support.browser import Look, Reader
from support.report_pages import Written

SILENT = Look(script=False)
WORDS = """() => {
  const copy = document.querySelector('main').cloneNode(true);
  copy.querySelectorAll('script, button.copy, [hidden], #controls').forEach(one => one.remove());
  return copy.textContent.replace(/\\s+/g, ' ').trim();
}"""


@pytest.fixture
def page(lab_report: Written, reader: Reader) -> Page:
    return reader.open(lab_report.html, SILENT)


def test_no_control_is_there_that_does_nothing(page: Page) -> None:
    assert page.locator("input, select, button").locator("visible=true").count() == 0


def test_the_words_are_the_same(page: Page, lab_report: Written, reader: Reader) -> None:
    assert page.evaluate(WORDS) == reader.open(lab_report.html).evaluate(WORDS)


def test_everyone_and_everything_is_shown(page: Page, lab_report: Written) -> None:
    everyone = [guest["subject"] for guest in lab_report.report["guests"]]
    assert page_told.shown(page) == everyone
    findings = page.locator("article.finding")
    assert findings.count()
    for fold in page.locator("details:not([open])").all():
        assert fold.locator("> summary").count() == 1, "nobody could open this"
    page_faults.unfold(page)
    assert findings.locator("visible=true").count() == findings.count()


def test_a_fold_opens(page: Page) -> None:
    fold = page.locator("#guest-table details").first
    fold.locator("> summary").click()
    assert fold.locator(".inner").is_visible()


def test_a_link_leads_to_a_finding(page: Page) -> None:
    link = page.locator("#guest-table a[href^='#finding-']").first
    target = (link.get_attribute("href") or "").lstrip("#")
    link.click()
    page.wait_for_timeout(100)
    assert page.locator(f"[id='{target}']").is_visible()
