"""What the documents name is there: files, and what each page of the rules is listed as."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support.golden import ROOT
from unmask import __version__, plugins
from unmask.cli.overview import COMMANDS
from unmask.model.finding import Rule
from unmask.model.report import Format

DATA = ROOT / "src/unmask/cpu/data"
CRYPTO = ROOT / "src/unmask/crypto/data"
SOURCES = (DATA / "SOURCES.md", CRYPTO / "SOURCES.md")
PAGES = (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *SOURCES)
PLACES = (
    ROOT,
    ROOT / "src/unmask",
    DATA,
    DATA.parent,
    CRYPTO,
    CRYPTO.parent,
    ROOT / "fixtures/rules/CPU001",
)
FILE = re.compile(r"`((?:[\w.*-]+/)*[\w.*-]+(?:/|\.(?:py|json|toml|md|sh)))`")
OPERATORS = frozenset(
    {"unmask.toml", "./unmask.toml", "accepted.toml", "today.json", "nodes/", "dist/"}
)
"""Files of those who run the program or build it, not of this project."""


def named(page: Path) -> list[str]:
    """Return the paths in back quotes of a page."""
    text = re.sub(
        r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    return [path for path in FILE.findall(text) if path not in OPERATORS]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_files_that_a_page_names_are_there(page: Path) -> None:
    gone = [
        path
        for path in named(page)
        if "CODE" not in path and not any(list(place.glob(path)) for place in PLACES)
    ]
    assert not gone, f"{page.name} names what is not there"


def test_paths_are_found_in_the_pages() -> None:
    assert "engine/document.py" in named(ROOT / "ARCHITECTURE.md")
    assert sum(len(named(page)) for page in PAGES) > 20


def test_the_changelog_has_every_command_and_every_rule_family() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    for command in COMMANDS:
        assert f"`unmask {command}" in text
    for rule in plugins.load("unmask.rules", "RULE", Rule):
        assert rule.code[:3] in text
    assert "[Unreleased]" in text or f"[{__version__}]" in text


@pytest.mark.parametrize("name", ["CHANGELOG.md", "README.md"])
def test_every_format_is_named(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    formats = plugins.load("unmask.report", "FORMAT", Format)
    assert not [each.name for each in formats if f"`{each.name}`" not in text]
