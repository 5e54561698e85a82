"""Output of the script in every state in which it may arrive."""

from __future__ import annotations

from typing import Any

import pytest

from support.probe_shell import MARK, output
from unmask.model.inside import CryptoDriver, KernelCrypto
from unmask.probes._bounds import COUNT_LIMIT, TEXT_LIMIT, bounded
from unmask.probes._probe import Probe
from unmask.probes._section import LINE_LIMIT, End, Section, printable
from unmask.probes._sections import PART_LIMIT, split


def plain(name: str = "system", **options: Any) -> Probe:
    return Probe(name, "", Section.text, **options)


def test_sections_parts_and_endings() -> None:
    raw = output(("a", f"one\n\n{MARK} ./etc/x\ntwo\n\n{MARK} .!/etc/y\n"), ("b", "three"))
    found = split(raw, MARK, [plain("a"), plain("b"), plain("c")])
    assert found.whole
    assert found.user == 0
    assert list(found.found) == ["a", "b"]
    section = found.found["a"]
    assert (section.text(), section.text("/etc/x")) == ("one\n", "two\n")
    assert section.unreadable == ("/etc/y",)
    assert (section.end, section.status, section.truncated) == (End.DONE, 0, False)


@pytest.mark.parametrize(
    ("ending", "end"),
    [("late", End.LATE), ("skipped", End.SKIPPED), ("denied", End.DENIED), ("99999", End.BROKEN)],
)
def test_other_endings(ending: str, end: End) -> None:
    raw = f"\n{MARK} a\nx\n{MARK} = {ending}\n".encode()
    section = split(raw, MARK, [plain("a")]).found["a"]
    assert (section.end, section.status) == (end, None)


def test_only_the_first_of_two_counts_and_strangers_are_ignored() -> None:
    raw = output(("a", "first"), ("a", "second"), ("stranger", "x"))
    found = split(raw, MARK, [plain("a")]).found
    assert list(found) == ["a"]
    assert found["a"].text() == "first"


def test_only_the_first_ending_counts() -> None:
    raw = f"\n{MARK} a\nx\n\n{MARK} = late\n\n{MARK} .more\ny\n\n{MARK} = 0\n".encode()
    section = split(raw, MARK, [plain("a")]).found["a"]
    assert section.end is End.LATE
    assert "more" not in section


def test_windows_line_ends() -> None:
    raw = output(("a", "one\ntwo"), ("b", "three")).replace(b"\n", b"\r\n")
    found = split(raw, MARK, [plain("a"), plain("b")])
    assert found.user == 0
    assert found.whole
    assert found.found["a"].lines() == ["one", "two"]
    assert found.found["a"].status == 0


def test_more_than_the_limit_is_cut_at_a_line() -> None:
    raw = output(("a", "line\n" * 100))
    section = split(raw, MARK, [plain("a", limit=52)]).found["a"]
    assert section.truncated
    assert section.content == b"line\n" * 10  # what is beyond 52 is lost, and half a line with it


def test_parts_beyond_the_limit_are_lost() -> None:
    text = "".join(f"\n{MARK} .p{number}\nx\n" for number in range(PART_LIMIT + 50))
    section = split(output(("a", text)), MARK, [plain("a", limit=2**20)]).found["a"]
    assert section.truncated
    assert len(section.parts) == PART_LIMIT


def test_a_stump_of_a_mark_is_no_content() -> None:
    text = f"good\nlast\n\n{MARK[:9]}"
    section = split(output(("a", text)), MARK, [plain("a", limit=len(text) - 1)]).found["a"]
    assert section.truncated
    assert section.lines() == ["good", "last"]


def test_a_long_line_is_looked_at_in_part() -> None:
    section = Section(b"x" * 10_000_000 + b"\ny\n")
    assert [len(line) for line in section.lines()] == [LINE_LIMIT, 1]


def test_printable() -> None:
    assert (
        printable("a\x1b[31mb\tc\r\nd\x9b\u202ee\ufeff\ue000\U000e0041ü") == "a?[31mb\tc\nd??e???ü"
    )


def test_bounded() -> None:
    driver = CryptoDriver("a\nb\x1b\tc", "x" * 2 * TEXT_LIMIT)
    found = bounded((driver,) * 2 * COUNT_LIMIT)
    assert len(found) == COUNT_LIMIT
    assert found[0].algorithm == "a b? c"
    assert len(found[0].driver) == TEXT_LIMIT
    value = KernelCrypto(modules=("a",), aesni_available=None, fips=True)
    assert bounded(value) == value
