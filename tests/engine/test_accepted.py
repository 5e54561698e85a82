"""Accepted findings: which they are, until when, and what is wrong with the file."""

from __future__ import annotations

from datetime import date

import pytest

from unmask.engine.accepted import apply, load, remarks
from unmask.errors import UsageError
from unmask.model.finding import Finding, Outcome, Problem, Severity, Skip

CODES = ["CPU001", "CPU002", "SEC001"]
TODAY = date(2026, 12, 1)
WHOLE = """
[[accept]]
code = "CPU001"
subject = "lab/1*"
reason = "nothing is encrypted"
expires = 2027-01-31

[[accept]]
code = "sec001"
reason = "trusted programs only"
"""


def finding(code: str, subject: str) -> Finding:
    """Return a finding."""
    return Finding(code, "A rule", subject, "web", "lab/one", Problem(Severity.LOW, "a problem"))


OUTCOME = Outcome(
    (
        finding("CPU001", "lab/100"),
        finding("CPU001", "lab/200"),
        finding("CPU002", "lab/100"),
        finding("SEC001", "lab/300"),
    ),
    (Skip("CPU001", "lab/9", "not read"),),
)


def test_what_is_accepted_moves_with_reason_and_expiry() -> None:
    outcome = apply(OUTCOME, load(WHOLE, "accepted.toml", CODES), TODAY)
    assert [(item.code, item.subject) for item in outcome.findings] == [
        ("CPU001", "lab/200"),
        ("CPU002", "lab/100"),
    ]
    assert [(item.finding.subject, item.reason, item.expires) for item in outcome.accepted] == [
        ("lab/100", "nothing is encrypted", "2027-01-31"),
        ("lab/300", "trusted programs only", ""),
    ]
    assert outcome.skips == OUTCOME.skips


@pytest.mark.parametrize(
    ("today", "holds"),
    [(date(2027, 1, 30), True), (date(2027, 1, 31), False), (date(2028, 1, 1), False)],
)
def test_an_entry_holds_until_the_day_it_expires(today: date, holds: bool) -> None:  # noqa: FBT001
    outcome = apply(OUTCOME, load(WHOLE, "accepted.toml", CODES)[:1], today)
    assert bool(outcome.accepted) is holds


def test_entries_without_effect_are_said_with_their_line() -> None:
    text = WHOLE + '\n[[accept]]\ncode = "CPU002"\nsubject = "shop/*"\nreason = "gone"\n'
    entries = load(text, "accepted.toml", CODES)
    assert remarks(OUTCOME, entries, TODAY) == (
        "accepted.toml:12: the acceptance of CPU002 for shop/* fits no finding and can be removed",
    )
    assert remarks(OUTCOME, entries[:1], date(2027, 2, 1)) == (
        "accepted.toml:2: the acceptance of CPU001 for lab/1* has expired on 2027-01-31",
    )


def test_a_date_may_be_a_text_or_a_moment() -> None:
    for written in ('"2027-01-31"', "2027-01-31T12:00:00Z"):
        text = f'[[accept]]\ncode = "CPU001"\nreason = "r"\nexpires = {written}\n'
        assert load(text, "f", CODES)[0].expires == date(2027, 1, 31)


def test_a_subject_is_a_glob_with_regard_to_case() -> None:
    (entry,) = load('[[accept]]\ncode = "CPU001"\nsubject = "Lab/?00"\nreason = "r"', "f", CODES)
    assert entry.covers(finding("CPU001", "Lab/100"))
    assert not entry.covers(finding("CPU001", "lab/100"))
    assert not entry.covers(finding("CPU001", "Lab/1000"))
    assert not entry.covers(finding("CPU002", "Lab/100"))


def test_an_empty_file_accepts_nothing() -> None:
    assert load("", "f", CODES) == ()
    assert apply(OUTCOME, (), TODAY) is OUTCOME


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[accept", "f: not valid TOML"),
        ("a = " + "[" * 100_000, "f: not valid TOML"),
        ("a = " + "9" * 5000, "f: not valid TOML"),
        ("x = 1", "f: unknown key 'x'"),
        ("accept = 1", "two brackets"),
        ("[accept]\ncode = 'CPU001'", "two brackets"),
        ("accept = [1]", "f: entry 1: an accepted finding is a table"),
        ("\n\n[[accept]]\nreason = 'r'", "f:3: code is required"),
        ("[[accept]]\ncode = 'CPU001'", "f:1: reason is required"),
        ("[[accept]]\ncode = 'CPU001'\nreason = '  '", "f:1: reason is required"),
        ("[[accept]]\ncode = 'CPU001'\nreason = 3", "f:1: reason is required"),
        ("[[accept]]\ncode = 'CPU009'\nreason = 'r'", "f:1: there is no rule 'CPU009'"),
        ("[[accept]]\ncode = 'CPU009'\nreason = 'r'", "did you mean CPU00"),
        ("[[accept]]\ncode = 'CPU'\nreason = 'r'", "did you mean CPU0"),
        ("[[accept]]\ncode = 'CPU'\nreason = 'r'", "there is no rule 'CPU'"),
        ("[[accept]]\ncode = 'CPU001'\nreason = 'r'\nuntil = 1", "f:1: unknown key 'until'"),
        ("[[accept]]\ncode = 'CPU001'\nreason = 'r'\nexpires = 'soon'", "f:1: expires must be"),
        ("[[accept]]\ncode = 'CPU001'\nreason = 'r'\nexpires = 7", "f:1: expires must be"),
        ("[[accept]]\ncode = 'CPU001'\nreason = 'r'\nsubject = ''", "f:1: subject"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(text: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        load(text, "f", CODES)
    assert message in str(error.value)
