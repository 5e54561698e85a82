"""Choosing rules by code and by the beginning of a code."""

from __future__ import annotations

import pytest

from unmask.engine.select import choose
from unmask.errors import UsageError
from unmask.model.finding import About, Rule

RULES = [
    Rule(code, "A rule", About.GUEST, lambda _: [])
    for code in ("SEC001", "CPU001", "CPU002", "CPU010", "CLU001")
]


def chosen(select: list[str], ignore: list[str]) -> list[str]:
    """Return the codes that are chosen."""
    return [rule.code for rule in choose(RULES, select, ignore)]


@pytest.mark.parametrize(
    ("select", "ignore", "codes"),
    [
        ([], [], ["CLU001", "CPU001", "CPU002", "CPU010", "SEC001"]),
        (["CPU"], [], ["CPU001", "CPU002", "CPU010"]),
        (["cpu00"], [], ["CPU001", "CPU002"]),
        (["SEC001", "CLU"], [], ["CLU001", "SEC001"]),
        (["SEC001, CLU ,"], [], ["CLU001", "SEC001"]),
        ([], ["CPU"], ["CLU001", "SEC001"]),
        (["CPU"], ["CPU002"], ["CPU001", "CPU010"]),
        (["C"], ["CPU"], ["CLU001"]),
    ],
)
def test_prefixes(select: list[str], ignore: list[str], codes: list[str]) -> None:
    assert chosen(select, ignore) == codes


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("CPU003", "CPU001"),
        ("CPV001", "CPU001"),
        ("SEX", "SEC"),
        ("cry001", "did you mean"),
        ("zzz", "codes begin with CLU, CPU, SEC"),
    ],
)
def test_an_unknown_word_names_what_is_near(word: str, hint: str) -> None:
    for options in ({"select": [word]}, {"ignore": [word]}):
        with pytest.raises(UsageError) as error:
            choose(RULES, **options)
        assert repr(word) in str(error.value)
        assert hint in str(error.value)


def test_nothing_left_is_an_error_not_a_clean_report() -> None:
    with pytest.raises(UsageError, match="no rule is left"):
        choose(RULES, ["CPU"], ["C"])


def test_no_rules_at_all() -> None:
    assert choose([]) == ()
    with pytest.raises(UsageError, match="no rules at all"):
        choose([], ["CPU"])
