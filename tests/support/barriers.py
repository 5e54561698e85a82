"""Barriers for people with disabilities, as axe-core finds them: `found(page)`."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from playwright.sync_api import Page

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
"""Tags of axe-core's rules: WCAG 2.2 to level AA, and what is good practice beside it."""


@cache
def _axe() -> str:
    return files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")


def found(page: Page) -> dict[str, list[str]]:
    """Return "impact rule: what" with the places that violate it, at most five each."""
    page.evaluate(_axe())
    options = {"runOnly": RULES, "resultTypes": ["violations"]}
    result: Any = page.evaluate("options => axe.run(document, options)", options)
    assert result["passes"], "axe-core has looked at nothing"
    return {
        f"{one['impact']} {one['id']}: {one['help']}": [
            f"{node['target']} {node['failureSummary'][:300]}" for node in one["nodes"][:5]
        ]
        for one in result["violations"]
    }
