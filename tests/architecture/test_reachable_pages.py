"""The README leads to every page, and a link to a part of a page leads to that part."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.golden import ROOT

LINK = re.compile(r"\]\((?!https?://|mailto:)(?P<path>[^)#]*)(?:#(?P<part>[^)]+))?\)")
PAGES = sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")})


def links(page: Path) -> list[tuple[Path, str]]:
    """Return the files that a page links to, each with the part that is named."""
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    return [
        ((page.parent / found["path"]).resolve() if found["path"] else page, found["part"] or "")
        for found in LINK.finditer(text)
    ]


def anchors(page: Path) -> set[str]:
    """Return the names of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {
        re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings
    }


def test_the_readme_leads_to_every_page() -> None:
    seen: set[Path] = set()
    ahead = [ROOT / "README.md"]
    while ahead:
        page = ahead.pop()
        if page in seen:
            continue
        seen.add(page)
        if page.suffix == ".md" and page.is_file():
            ahead += [target for target, _ in links(page)]
    wanted = {*PAGES, *ROOT.glob("docs/*.json")}
    assert not {str(page.relative_to(ROOT)) for page in wanted - seen}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_name_headings_that_are_there(page: Path) -> None:
    for target, part in links(page):
        if part and target.suffix == ".md":
            assert part in anchors(target), f"{page.name} links to {target.name}#{part}"
