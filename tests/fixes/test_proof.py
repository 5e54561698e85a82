"""What shows inside a guest that a change has reached it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from support import move_case, rule_case
from unmask.engine.cases import guest_cases
from unmask.fixes.plan import plan
from unmask.fixes.proof import UnprovenError, proof
from unmask.model.case import GuestCase
from unmask.model.change import Plan

LUKS = {"kind": "luks", "name": "root", "consumer": "dm-crypt", "cipher": "aes-xts-plain64"}


def drivers(name: str) -> list[dict[str, Any]]:
    return [{"algorithm": "xts(aes)", "driver": name, "priority": 401}]


def case(**guest: Any) -> GuestCase:
    (found,) = guest_cases(move_case.inventory({}, [guest]), rule_case.finders([guest]))
    return found


def planned(**guest: Any) -> Plan:
    read = move_case.inventory({}, [guest])
    return plan(read, guest_cases(read), "lab/101", "x86-64-v2-AES")


def test_flags_drivers_and_work_are_told() -> None:
    old = {"cpu": "x86-64-v2", "sees": "x86-64-v2", "workloads": [LUKS]}
    new = {"cpu": "x86-64-v2-AES", "sees": "x86-64-v2-AES", "workloads": [LUKS]}
    before = case(**old, inside={"crypto_drivers": drivers("xts(ecb(aes-generic))")})
    after = case(**new, inside={"crypto_drivers": drivers("xts-aes-aesni")})
    told = proof(planned(cpu="x86-64-v2"), before, after)
    assert told == (
        "The guest itself sees AES-NI now.",
        "/proc/crypto: xts(aes) was served by xts(ecb(aes-generic)), and is by xts-aes-aesni now.",
        "luks root: software before, hardware now.",
    )


def test_zfs_that_offers_more_is_told() -> None:
    def zfs(*offered: str) -> dict[str, Any]:
        return {"zfs": {"gcm": {"chosen": "fastest", "offered": list(offered)}}}

    before = case(cpu="x86-64-v2", sees="x86-64-v2", inside=zfs("generic"))
    after = case(cpu="x86-64-v2-AES", sees="x86-64-v2-AES", inside=zfs("generic", "pclmulqdq"))
    told = proof(planned(cpu="x86-64-v2"), before, after)
    assert "OpenZFS offers pclmulqdq in icp_gcm_impl now." in told


def test_a_guest_that_does_not_see_it_proves_nothing() -> None:
    with pytest.raises(UnprovenError, match="does not see AES-NI"):
        proof(planned(cpu="x86-64-v2"), case(), case(sees="x86-64-v2"))


def test_a_guest_that_nobody_entered_proves_nothing() -> None:
    with pytest.raises(UnprovenError, match="nobody could look inside"):
        proof(planned(cpu="x86-64-v2"), case(), case())


def test_a_guest_whose_flags_were_not_read_proves_nothing() -> None:
    with pytest.raises(UnprovenError, match="could not be read"):
        proof(planned(cpu="x86-64-v2"), case(), case(inside={}))


def test_what_should_be_gone_and_is_not_is_told() -> None:
    made = replace(planned(cpu="x86-64-v2"), gained=(), lost=("popcnt",))
    told = proof(made, case(), case(sees="x86-64-v2"))
    assert told == ("It sees popcnt still.",)
