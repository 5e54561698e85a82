"""The blocks of all pages show what the commands really print, and links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support import sessions
from support.golden import ROOT


@pytest.mark.parametrize("page", sessions.pages("console"), ids=lambda page: page.name)
def test_console_blocks_are_what_the_commands_print(page: Path, tmp_path: Path) -> None:
    sessions.hold(sessions.Stage(tmp_path), page, "console")


@pytest.mark.parametrize("page", sessions.pages("sh-session"), ids=lambda page: page.name)
def test_sh_session_blocks_are_what_the_commands_print_on_the_lab(
    page: Path, tmp_path: Path
) -> None:
    with sessions.lab_stage(tmp_path) as stage:
        sessions.hold(stage, page, "sh-session")


def test_there_is_something_to_compare() -> None:
    readme = ROOT / "README.md"
    assert sessions.steps(readme, "console")
    fixes = [
        step for page in sessions.pages("sh-session") for step in sessions.steps(page, "sh-session")
    ]
    assert any(" --restart --verify" in step.command for step in fixes)


PAGES = sorted((*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\((?!https?://)([^)#]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / link).exists(), f"{page.name} links to {link}"
