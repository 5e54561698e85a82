"""MIG001 against its fixtures, and what libvirt itself says."""

from __future__ import annotations

from dataclasses import replace

import pytest

from support import move_case
from support.move_case import MoveFixture
from unmask.engine import moves
from unmask.model.cpu import Accelerator, HypervisorCpu
from unmask.model.move import Answer, Move
from unmask.rules.mig001_target_lacks_enforced_flags import RULE


@pytest.mark.parametrize("case", move_case.cases(RULE.code), ids=lambda case: case.name)
def test_it_says_what_its_fixtures_expect(case: MoveFixture) -> None:
    move_case.hold(RULE, case)


def told(*, usable: bool | None, cpu: object = "Skylake-Server-noTSX-IBRS") -> Move:
    """Judge a libvirt guest whose target's libvirt answers whether its model is usable."""
    read = move_case.inventory({"one": "cascadelake", "two": "broadwell"}, [
        {"host": "one", "platform": "libvirt", "state": "stopped", "cpu": cpu},
    ])  # fmt: skip
    answers = () if usable is None else (("Skylake-Server-noTSX-IBRS", usable),)
    offer = HypervisorCpu("x86_64", Accelerator.KVM, usable=answers)
    hosts = tuple(
        replace(host, offers=(offer,)) if host.name == "two" else host
        for host in move_case.on_libvirt(read).hosts
    )
    (move,) = moves.moves(replace(move_case.on_libvirt(read), hosts=hosts), [RULE], moves.Asked())
    return move


def test_the_hypervisors_own_answer_goes_before_the_list_of_flags() -> None:
    assert told(usable=None).cold is Answer.BLOCKED
    assert told(usable=True).cold is Answer.POSSIBLE
    assert told(usable=False).cold is Answer.BLOCKED


def test_a_model_that_is_not_usable_is_refused_though_no_flag_is_missing() -> None:
    read = move_case.inventory({"one": "broadwell", "two": "cascadelake"}, [
        {"host": "one", "platform": "libvirt", "state": "stopped", "cpu": "IvyBridge"},
    ])  # fmt: skip
    offer = HypervisorCpu("x86_64", Accelerator.KVM, usable=(("IvyBridge", False),))
    local = move_case.on_libvirt(read)
    hosts = tuple(replace(host, offers=(offer,)) for host in local.hosts)
    (move,) = moves.moves(replace(local, hosts=hosts), [RULE], moves.Asked())
    assert move.cold is Answer.BLOCKED
    assert "IvyBridge is not usable there" in move.reasons[0].message


def test_a_flag_beside_a_usable_model_is_looked_for() -> None:
    model = "Skylake-Server-noTSX-IBRS"
    assert told(usable=True, cpu={"like": model, "on": "vaes"}).cold is Answer.BLOCKED


def test_libvirt_guards_a_live_guest_whatever_check_is_configured() -> None:
    asked = {"like": "Skylake-Server-noTSX-IBRS", "enforced": False}
    running = {**asked, "exact": True}
    read = move_case.inventory({"one": "cascadelake", "two": "broadwell"}, [
        {"host": "one", "platform": "libvirt", "cpu": asked, "running": running},
    ])  # fmt: skip
    (move,) = moves.moves(move_case.on_libvirt(read), [RULE], moves.Asked())
    assert (move.live, move.cold) == (Answer.BLOCKED, Answer.POSSIBLE)
    assert "libvirt there refuses the running CPU (missing features)" in move.reasons[0].message


def test_what_a_live_guest_was_given_of_optional_flags_is_judged() -> None:
    given = {"like": "x86-64-v3", "exact": True, "enforced": False, "on": "avx512f"}
    asked = {"like": "x86-64-v3", "enforced": False, "optional": "avx512f"}
    read = move_case.inventory({"one": "cascadelake", "two": "broadwell"}, [
        {"host": "one", "platform": "libvirt", "cpu": asked, "running": given},
    ])  # fmt: skip
    (move,) = moves.moves(move_case.on_libvirt(read), [RULE], moves.Asked())
    assert move.live is Answer.BLOCKED
    assert move.reasons[0].features == ("avx512f",)
