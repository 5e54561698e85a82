"""MIG008 against its fixtures, and the models that a libvirt knows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from support import move_case
from support.move_case import MoveFixture
from unmask.engine import moves
from unmask.model.cpu import Accelerator, HypervisorCpu
from unmask.rules.mig008_model_not_there import RULE


@pytest.mark.parametrize("case", move_case.cases(RULE.code), ids=lambda case: case.name)
def test_it_says_what_its_fixtures_expect(case: MoveFixture) -> None:
    move_case.hold(RULE, case)


@pytest.mark.parametrize(("known", "answer"), [("IvyBridge", "possible"), ("Nehalem", "blocked")])
def test_libvirt_has_to_know_the_model(known: str, answer: str) -> None:
    read = move_case.inventory({"one": "broadwell", "two": "broadwell"}, [
        {"host": "one", "platform": "libvirt", "cpu": "IvyBridge"},
    ])  # fmt: skip
    offer = HypervisorCpu("x86_64", Accelerator.KVM, usable=((known, True),))
    local = move_case.on_libvirt(read)
    hosts = tuple(replace(host, offers=(offer,)) for host in local.hosts)
    (move,) = moves.moves(replace(local, hosts=hosts), [RULE], moves.Asked())
    assert (move.live, move.cold) == (answer, answer)
