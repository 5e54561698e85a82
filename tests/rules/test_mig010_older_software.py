"""MIG010 against its fixtures, and a known error of libvirt."""

from __future__ import annotations

import pytest

from support import move_case
from support.move_case import MoveFixture
from unmask.engine import moves
from unmask.rules.mig010_older_software import RULE


@pytest.mark.parametrize("case", move_case.cases(RULE.code), ids=lambda case: case.name)
def test_it_says_what_its_fixtures_expect(case: MoveFixture) -> None:
    move_case.hold(RULE, case)


@pytest.mark.parametrize(
    ("old", "new", "shown", "answer"),
    [
        ("9.2.0", "10.1.2", "", "unknown"),
        ("9.2.0", "10.1.2", "ht", "possible"),
        ("10.0.0", "10.1.2", "", "possible"),
        ("8.2.0", "9.2.0", "", "possible"),
    ],
)
def test_libvirt_refuses_what_a_newer_qemu_reports(
    old: str, new: str, shown: str, answer: str
) -> None:
    cpu = {"like": "IvyBridge", "exact": True, "on": shown}
    hosts = {"one": {"cpu": "broadwell", "qemu": old}, "two": {"cpu": "broadwell", "qemu": new}}
    guest = {"host": "one", "platform": "libvirt", "cpu": "IvyBridge", "running": cpu}
    read = move_case.on_libvirt(move_case.inventory(hosts, [guest]))
    (move,) = moves.moves(read, [RULE], moves.Asked())
    assert (move.live, move.cold) == (answer, "possible")


@pytest.mark.parametrize(("qemu", "answer"), [("10.1.2", "possible"), ("10.0.0", "unknown")])
def test_a_full_check_may_refuse_what_another_qemu_adds(qemu: str, answer: str) -> None:
    hosts = {"one": "broadwell", "two": {"cpu": "broadwell", "qemu": qemu}}
    guest = {
        "host": "one",
        "platform": "libvirt",
        "state": "stopped",
        "properties": {"check": "full"},
    }
    read = move_case.on_libvirt(move_case.inventory(hosts, [guest]))
    (move,) = moves.moves(read, [RULE], moves.Asked())
    assert move.cold == answer


@pytest.mark.parametrize(
    ("properties", "target", "answer"),
    [
        ({"check": "partial", "forbid": "avx512f"}, "cascadelake", "blocked"),
        ({"check": "partial", "forbid": "avx512f"}, "broadwell", "possible"),
        ({"check": "none", "forbid": "avx512f"}, "cascadelake", "possible"),
        (
            {"check": "partial", "forbid": "avx512f"},
            {"like": "broadwell", "complete": False},
            "unknown",
        ),
        ({"check": "partial", "match": "strict"}, "cascadelake", "unknown"),
        ({"check": "partial", "match": "strict"}, "broadwell", "possible"),
        ({"check": "none", "match": "strict"}, "cascadelake", "possible"),
    ],
)
def test_a_host_with_too_much_is_refused(
    properties: dict[str, str], target: object, answer: str
) -> None:
    hosts = {"one": "broadwell", "two": target}
    guest = {"host": "one", "platform": "libvirt", "state": "stopped", "properties": properties}
    read = move_case.on_libvirt(move_case.inventory(hosts, [guest]))
    (move,) = moves.moves(read, [RULE], moves.Asked())
    assert move.cold == answer
