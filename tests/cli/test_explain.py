"""`unmask explain CODE` prints the rule's page."""

from __future__ import annotations

import pytest

from unmask.engine import explain

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
