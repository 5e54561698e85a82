"""How long Chromium takes to open a report, and to filter and sort its guests."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from benchmarks import sample
from benchmarks.figure import Figure
from support.browser import started
from unmask import plugins
from unmask.engine import document
from unmask.model.finding import Rule
from unmask.model.report import Format

GUESTS = 2000
ROUNDS = 3
GROWTH = 2.0
"""How much dearer one guest may be in the big report than in one of a quarter of its guests."""

USE = """async () => {
  const done = () => new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve)));
  const took = async act => { const from = performance.now(); act(); await done();
    return (performance.now() - from) / 1000; };
  const severity = document.getElementById('filter-severity');
  const choose = value => () => {
    severity.value = value; severity.dispatchEvent(new Event('change'));
  };
  const heads = [...document.querySelectorAll('#guest-table thead button')];
  return [await took(choose('none')), await took(choose('')),
          await took(() => heads.at(-1).click()), await took(() => heads.at(0).click())];
}"""


def measure() -> list[Figure]:
    """Return times of the big report, and the ratio to a smaller one in the same run."""
    with sync_playwright() as playwright:
        browser = started(playwright)
        figures = measured(browser, GUESTS, ROUNDS)
        browser.close()
    return figures


def measured(browser: Browser, guests: int, rounds: int) -> list[Figure]:
    """Return the same of so many guests."""
    with tempfile.TemporaryDirectory() as folder:
        pages = [_written(Path(folder), size) for size in (guests // 4, guests)]
        times = [_times(browser, page, rounds) for page in pages]
        size = pages[1].stat().st_size
    figures = []
    for what, small, big in zip(("open", "filter", "sort"), *times, strict=True):
        growth = big / small / 4
        figures.append(
            Figure(
                f"{what} the HTML report of {guests} guests",
                f"{big * 1000:.0f} ms; a guest costs {growth:.2f}x of one of {guests // 4}",
                f"linear: within {GROWTH:g}x",
                growth <= GROWTH,
            )
        )
    return [*figures, Figure(f"the HTML report of {guests} guests", f"{size / 2**20:.1f} MiB", "")]


def _written(folder: Path, guests: int) -> Path:
    rules = plugins.load("unmask.rules", "RULE", Rule)
    told = document.build(
        sample.inventory(guests), rules, version="0", started="2026-12-01T00:00:00Z"
    )
    told = document.with_moves(told, rules)
    formats = {one.name: one for one in plugins.load("unmask.report", "FORMAT", Format)}
    page = folder / f"{guests}.html"
    page.write_text(formats["html"].render(told, 0), encoding="utf-8")
    return page


def _times(browser: Browser, file: Path, rounds: int) -> tuple[float, float, float]:
    """Return seconds to open, to filter and to sort: the least of all rounds.

    A browser is many processes, and what else the machine does only ever makes them slower.
    """
    opened, filtered, ordered = [], [], []
    for _ in range(rounds):
        page = browser.new_page()
        began = time.perf_counter()
        page.goto(file.as_uri())
        page.evaluate("document.body.getBoundingClientRect().height")
        opened.append(time.perf_counter() - began)
        fewer, more, by_severity, by_name = page.evaluate(USE)
        filtered.append(fewer + more)
        ordered.append(by_severity + by_name)
        page.close()
    return min(opened), min(filtered) / 2, min(ordered) / 2
