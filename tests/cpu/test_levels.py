"""Whole level definitions: every single flag of one counts, and nothing else does."""

from __future__ import annotations

import pytest

from unmask.cpu import catalogue, features
from unmask.cpu.levels import LEVELS, lacking, level

MEMBERS = [(number, flag) for number, flags in LEVELS.items() for flag in sorted(flags)]


def test_levels_build_on_each_other() -> None:
    assert LEVELS[1] < LEVELS[2] < LEVELS[3] < LEVELS[4]
    assert [len(LEVELS[number]) for number in (1, 2, 3, 4)] == [9, 16, 25, 30]


@pytest.mark.parametrize("number", LEVELS)
def test_a_whole_definition_reaches_its_level(number: int) -> None:
    assert level(LEVELS[number]) == number
    assert not lacking(number, LEVELS[number])


@pytest.mark.parametrize(("number", "flag"), MEMBERS)
def test_one_flag_less_falls_below(number: int, flag: str) -> None:
    rest = LEVELS[number] - {flag}
    assert level(rest) < number
    assert lacking(number, rest) == {flag}


def test_one_telling_flag_is_not_a_level() -> None:
    assert level({"avx2"}) == 0
    assert level(LEVELS[2] | {"avx2", "avx512f"}) == 2


def test_no_level_says_anything_of_encryption() -> None:
    assert LEVELS[4].isdisjoint({"aes", "pclmulqdq", "sha_ni", "vaes", "vpclmulqdq"})


def test_xsave_stands_for_osxsave() -> None:
    assert "osxsave" not in LEVELS[4]
    assert lacking(3, LEVELS[3] - {"xsave"} | {"osxsave"}) == {"xsave"}


def test_level_nought_asks_for_nothing_and_level_five_is_none() -> None:
    assert lacking(0, ()) == frozenset()
    with pytest.raises(KeyError):
        lacking(5, LEVELS[4])


def test_levels_are_spelled_our_way() -> None:
    assert all(features.canonical(flag) == flag and features.listed(flag) for flag in LEVELS[4])


@pytest.mark.parametrize(
    ("model", "number"),
    [
        ("base", 0),
        ("kvm32", 0),
        ("kvm64", 1),
        ("qemu64", 1),
        ("Penryn", 1),
        ("phenom", 1),
        ("Nehalem", 2),
        ("Opteron_G5", 2),
        ("Denverton", 2),
        ("Haswell", 3),
        ("Dhyana", 3),
        ("KnightsMill", 3),
        ("SierraForest", 3),
        ("Skylake-Server", 4),
        ("EPYC-Genoa", 4),
    ],
)
def test_levels_of_models(model: str, number: int) -> None:
    found = catalogue.find(model)
    assert found is not None
    assert found.level == number
