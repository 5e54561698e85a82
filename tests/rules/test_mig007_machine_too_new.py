"""MIG007 against its fixtures, and versions that only domain capabilities tell."""

from __future__ import annotations

from dataclasses import replace

import pytest

from support import move_case
from support.move_case import MoveFixture
from unmask.engine import moves
from unmask.model.cpu import Accelerator, HypervisorCpu
from unmask.rules.mig007_machine_too_new import RULE


@pytest.mark.parametrize("case", move_case.cases(RULE.code), ids=lambda case: case.name)
def test_it_says_what_its_fixtures_expect(case: MoveFixture) -> None:
    move_case.hold(RULE, case)


@pytest.mark.parametrize(
    ("offered", "answer"),
    [("pc-i440fx-9.2", "blocked"), ("pc-q35-10.1", "possible"), ("pc", "unknown")],
)
def test_the_machine_of_domain_capabilities_tells_the_version(offered: str, answer: str) -> None:
    hosts = {"one": "broadwell", "two": {"cpu": "broadwell", "qemu": ""}}
    guest = {"host": "one", "platform": "libvirt", "machine": "pc-q35-10.0"}
    read = move_case.on_libvirt(move_case.inventory(hosts, [guest]))
    offer = HypervisorCpu("x86_64", Accelerator.KVM, machine=offered)
    told = replace(read, hosts=(read.hosts[0], replace(read.hosts[1], offers=(offer,))))
    (move,) = moves.moves(told, [RULE], moves.Asked())
    assert (move.live, move.cold) == (answer, answer)


@pytest.mark.parametrize(
    ("machine", "there", "answer"),
    [
        ("pc-i440fx-1.7", "8.1.5", "possible"),
        ("pc-i440fx-1.7", "8.2.0", "blocked"),
        ("pc-i440fx-2.3", "9.1.0", "blocked"),
        ("pc-i440fx-2.4", "10.0.13", "possible"),
        ("pc-i440fx-2.4", "10.1.0", "blocked"),
        ("pc-q35-2.3", "7.2.22", "blocked"),
        ("pc-q35-2.12", "10.0.13", "possible"),
        ("pc-q35-4.1", "10.1.2", "blocked"),
        ("pc-q35-4.2+pve0", "10.1.2", "possible"),
        ("pc-q35-5.2", "11.1.0", "possible"),
        ("pc-q35-5.2", "11.2.0", "blocked"),
    ],
)
def test_new_versions_of_qemu_drop_old_machines(machine: str, there: str, answer: str) -> None:
    hosts = {"lab/one": "broadwell", "lab/two": {"cpu": "broadwell", "qemu": there}}
    read = move_case.inventory(hosts, [{"machine": machine, "host": "lab/one"}])
    (move,) = moves.moves(read, [RULE], moves.Asked())
    assert (move.live, move.cold) == (answer, answer)
