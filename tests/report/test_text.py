"""Nothing from outside can move the cursor, reorder text or flood the terminal."""

from __future__ import annotations

import unicodedata

import pytest

from unmask.report._grid import Layout, draw, fit
from unmask.report._text import LISTED, called, clean, listed, shorten, wrap


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("plain", "plain"),
        ("caf\u00e9 \u6771\u4eac", "caf\u00e9 \u6771\u4eac"),
        ("\x1b]0;title\x07web", "web"),
        ("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b[2J\x1b[1;1Hweb\x1b[0m", "web"),
        ("\x9b31mweb", "web"),
        ("\x9d0;title\x9cweb", "web"),
        ("\x1bPq#0\x1b\\web", "web"),
        ("\x1bcweb", "web"),
        ("web\x1b", "web"),
        ("\x1b]0;never ends", ""),
        ("a\x00b\x08c\x7fd", "abcd"),
        ("a\nb\r\nc\td", "a b c d"),
        ("  a   b  ", "a b"),
        ("live\u202egnp.exe", "livegnp.exe"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("lone \ud800 surrogate", "lone ? surrogate"),
        ("a\u2028b", "ab"),
        ("", ""),
    ],
)
def test_only_printable_text_is_left(text: str, printed: str) -> None:
    assert clean(text) == printed


def test_no_character_at_all_escapes() -> None:
    every = "".join(map(chr, range(0x3000)))
    for char in clean(every, len(every)):
        assert unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def test_length_is_bounded_whatever_is_in_it() -> None:
    assert clean("a" * 10_000_000, 20) == "a" * 17 + "..."
    assert len(clean("\x1b[31m" * 1_000_000, 20)) <= 20
    assert clean("x" * 20, 20) == "x" * 20


def test_shortening_leaves_room_for_the_dots() -> None:
    assert shorten("abcdefgh", 8) == "abcdefgh"
    assert shorten("abcdefghi", 8) == "abcde..."


@pytest.mark.parametrize(
    ("subject", "name", "shown"),
    [
        ("homelab/101", "web", "homelab/101 web"),
        ("homelab/101", "1", "homelab/101 1"),
        ("homelab/101", "", "homelab/101"),
        ("hall/mail", "mail", "hall/mail"),
        ("berlin:hall", "hall", "berlin:hall"),
        ("lab", "lab", "lab"),
        ("a/b\x1b[2J", "c\n", "a/b c"),
    ],
)
def test_a_name_stands_behind_a_subject_that_does_not_end_in_it(
    subject: str, name: str, shown: str
) -> None:
    assert called(subject, name) == shown


def test_wrapping_keeps_the_width_and_the_indent() -> None:
    lines = wrap("word " * 40, 40, "  - ")
    assert all(len(line) <= 40 for line in lines)
    assert lines[0].startswith("  - word")
    assert all(line.startswith("    word") for line in lines[1:])
    assert wrap("word " * 40, 0, "  - ") == ["  - " + "word " * 39 + "word"]
    assert wrap("", 40, "x: ") == ["x:"]


def test_a_long_list_is_counted() -> None:
    names = [f"guest{number}" for number in range(LISTED + 3)]
    assert listed(names).endswith(f"guest{LISTED - 1} and 3 more")
    assert listed(names[:2]) == "guest0, guest1"


FINGERPRINT = ":".join(f"{number:02X}" for number in range(32))


@pytest.mark.parametrize("width", [40, 80])
def test_a_long_word_is_parted_where_it_has_joints(width: int) -> None:
    lines = wrap(f"its fingerprint is {FINGERPRINT}, not another", width, "  ")
    assert all(len(line) <= width for line in lines)
    parts = [line.split()[-1] for line in lines if ":" in line]
    assert all(part.endswith((":", ",", "another")) for part in parts)
    assert FINGERPRINT in "".join(line.strip() for line in lines).replace("is", "is ")


def test_a_word_without_joints_is_broken_and_ends() -> None:
    assert wrap("x" * 100, 40) == ["x" * 40, "x" * 40, "x" * 20]
    assert wrap("a " + "x" * 50, 40) == ["a", "x" * 40, "x" * 10]
    assert "".join(wrap("/" * 100, 40)) == "/" * 100


WIDE = "\u6f22\u5b57" * 30


def columns(text: str) -> int:
    """Return the columns that a terminal needs for these texts."""
    return sum(2 if char in WIDE else 1 for char in text)


@pytest.mark.parametrize("width", range(30, 80, 7))
def test_letters_of_two_columns_are_counted_as_two(width: int) -> None:
    lines = wrap(f"{WIDE[:10]} and {WIDE[:10]} or {WIDE[:8]} {WIDE[:4]}", width, "  - ", "    ")
    assert max(map(columns, lines)) <= width
    assert "".join("".join(lines).split()).count("\u6f22") == 16
    layout = Layout({"GUEST": 8, "CPU": 8}, ())
    table = {"GUEST": [WIDE, "a", f"b{WIDE}"], "CPU": ["kvm64", WIDE[:6], "x"]}
    drawn = draw(fit(table, width, layout), lambda _, cell: cell)
    assert max(map(columns, drawn)) <= width
    begins = {columns(line) - columns(line.rpartition("  ")[2]) for line in drawn}
    assert len(begins) == 1
    assert not any("\0" in line for line in (*lines, *drawn))
