"""`unmask explain CODE` prints the rule's page."""

from __future__ import annotations

import pytest

from unmask.engine import explain
from unmask.report import _page

from .conftest import Command


@pytest.mark.parametrize("code", sorted(explain.codes()))
def test_every_rule_is_explained(command: Command, code: str) -> None:
    answer = command("explain", code)
    assert (answer.code, answer.errors) == (0, "")
    assert answer.output == explain.page(code)
    for heading in explain.HEADINGS:
        assert f"## {heading}" in answer.output


def test_a_code_may_be_in_lower_case(command: Command) -> None:
    assert command("explain", "cpu001").output == explain.page("CPU001")


@pytest.mark.parametrize("code", ["CPU999", "PCU001", "\x1b]0;x\x07"])
def test_an_unknown_code_is_a_usage_error_with_the_nearest(command: Command, code: str) -> None:
    answer = command("explain", code)
    assert (answer.code, answer.output) == (2, "")
    assert "CPU" in answer.errors
    assert "\x1b" not in answer.errors


def test_without_a_code_all_are_listed(command: Command) -> None:
    answer = command("explain")
    assert (answer.code, answer.errors) == (0, "")
    assert [line.split()[0] for line in answer.output.splitlines()] == sorted(explain.codes())
    assert "CPU002  AES is shown without PCLMULQDQ\n" in answer.output


@pytest.mark.parametrize("width", [40, 80])
@pytest.mark.parametrize("code", sorted(explain.codes()))
def test_a_page_fits_a_narrow_terminal_and_loses_no_word(
    command: Command, monkeypatch: pytest.MonkeyPatch, code: str, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    text = command("explain", code).output
    for line in text.splitlines():
        assert len(line) <= width or line.startswith(("#", "    ")), line
    assert words(text) == words(explain.page(code))


def words(text: str) -> list[str]:
    """Return the letters and digits of a text, in their order."""
    return [char for char in text if char.isalnum()]


def test_what_fits_is_left_as_it_is() -> None:
    page = "# Title\n\nOne\ntwo\n\n| a | b |\n| --- | --- |\n| c | d |\n\n    code\n"
    assert _page.fitted(page, 80) == page
    assert _page.fitted(page, 0) == page


def test_lists_tables_and_code_are_fitted_each_in_its_way() -> None:
    page = (
        "# Title that is far too long for it\n\n"
        "One two three four\nfive\n\n"
        "- one two three four five\n  six\n- seven\n\n"
        "| name of it | what it is |\n| --- | --- |\n| one | two three four |\n\n"
        "    code that is longer than the rest\n"
    )
    assert _page.fitted(page, 20) == (
        "# Title that is far too long for it\n\n"
        "One two three four\nfive\n\n"
        "- one two three four\n  five six\n- seven\n\n"
        "- name of it: what\n  it is\n- one: two three\n  four\n\n"
        "    code that is longer than the rest\n"
    )
