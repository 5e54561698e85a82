"""Tables of exit codes have the codes that the program ends with, and mean the same by them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.golden import ROOT
from unmask import errors
from unmask.cli import main, overview

PAGES = sorted({*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")} - {ROOT / "docs/usage.md"})
RAISED = {
    kind.exit_code
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, errors.UnmaskError)
}
WORDS = {
    0: "complete|nothing|done|asked",
    1: "findings? at|blocked|something is",
    2: "usage|command line|no such|file cannot be read",
    3: "read",
    4: "change|guest is not",
    main.BUG: "bug",
    main.INTERRUPTED: "Ctrl-C",
}
"""What each code is about, in all places."""
EVERYWHERE = {0, 1, 2, 3, 4, main.BUG}
"""The codes that a list of all commands' codes has."""


def tables(text: str) -> Iterator[dict[int, str]]:
    """Yield each table of exit codes, by code: those that go down, and those that go across."""
    down = r"^\| exit \| meaning \|\n\| --- \| --- \|\n(?P<rows>(?:\|.*\|\n?)+)"
    for table in re.finditer(down, text, re.MULTILINE):
        rows = (row.strip("|").split("|", 1) for row in table["rows"].splitlines())
        yield {int(code): meaning.strip() for code, meaning in rows}
    across = r"^\|(?P<codes>(?: \d+ \|){4,})\n\|[ \-|]+\|\n\|(?P<meanings>.*)\|$"
    for table in re.finditer(across, text, re.MULTILINE):
        codes = map(int, table["codes"].strip("| ").split("|"))
        yield dict(zip(codes, table["meanings"].split("|"), strict=True))


def check(table: dict[int, str]) -> None:
    assert table.keys() <= WORDS.keys()
    for code, meaning in table.items():
        assert re.search(WORDS[code], meaning), f"{code}: {meaning}"


def test_the_codes_are_those_that_errors_have() -> None:
    assert RAISED | {0, 1, main.BUG, main.INTERRUPTED} == WORDS.keys()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_table_of_a_page_means_what_the_program_means(page: Path) -> None:
    for table in tables(page.read_text(encoding="utf-8")):
        check(table)


@pytest.mark.parametrize("name", ["README.md", "ARCHITECTURE.md"])
def test_the_main_tables_are_complete(name: str) -> None:
    (table,) = tables((ROOT / name).read_text(encoding="utf-8"))
    assert table.keys() == EVERYWHERE


def test_the_help_has_the_same() -> None:
    _, _, text = overview.page().partition("Exit codes:\n")
    rows = re.findall(r"^  (\d+) +((?:.*\n?)(?:      .*\n?)*)", text, re.MULTILINE)
    table = {int(code): " ".join(meaning.split()) for code, meaning in rows}
    assert table.keys() == EVERYWHERE
    check(table)
