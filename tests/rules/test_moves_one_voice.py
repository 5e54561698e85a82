"""Rules on moves, rules on the guest's own host, and the baseline give one answer on one CPU."""

from __future__ import annotations

from dataclasses import replace

import pytest

from support import move_case
from unmask.cpu import catalogue, move_views, node_flags
from unmask.cpu.model_fit import candidates, obstacle
from unmask.cpu.resolve import resolve
from unmask.engine import moves
from unmask.engine.cases import guest_cases
from unmask.model.baseline import Node
from unmask.model.cpu import Accelerator
from unmask.model.move import Answer
from unmask.rules import (
    mig001_target_lacks_enforced_flags,
    mig003_flags_taken_by_microcode,
)

HOSTS = ("broadwell", "cascadelake", "nehalem", "rome")
RULES = [mig001_target_lacks_enforced_flags.RULE, mig003_flags_taken_by_microcode.RULE]
NAMES = tuple(sorted({*catalogue.proxmox_names(), *catalogue.proxmox_cpu_names("x86_64")}))


@pytest.mark.parametrize("target", HOSTS)
def test_a_model_starts_there_as_it_would_on_its_own_host_and_as_the_baseline_says(
    target: str,
) -> None:
    names = [name for name in NAMES if name not in ("host", "max") and _known(name)]
    guests = [{"subject": f"lab/{name}", "cpu": name, "state": "stopped"} for name in names]
    inventory = move_case.inventory({"lab/one": "broadwell", "lab/two": target}, guests)
    place = node_flags.node(inventory.hosts[1])
    assert isinstance(place, Node)
    fits = {item.name: obstacle(item, place) for item in candidates([place])}
    found = {
        move.guest.removeprefix("lab/"): move.cold
        for move in moves.moves(inventory, RULES, moves.Asked())
    }
    assert len(found) > 60
    for guest in inventory.guests:
        name = guest.subject.removeprefix("lab/")
        here = resolve(guest.configured, "x86_64", Accelerator.KVM, inventory.hosts[1].cpu).starts
        assert (found[name] is Answer.POSSIBLE) is here, name
        against = fits.get(name)
        if name in fits and (against is None or against[2]):
            assert here is (against is None), (name, against)


def _known(name: str) -> bool:
    own = catalogue.proxmox_model(name)
    return catalogue.find(own.reported_model if own else name) is not None


@pytest.mark.parametrize("target", HOSTS)
def test_where_a_guest_is_alive_already_nothing_is_lost(target: str) -> None:
    guests = [{"subject": f"lab/{name}", "cpu": name} for name in NAMES if _known(name)]
    inventory = move_case.inventory({"lab/one": target, "lab/two": target}, guests)
    twin = replace(inventory.hosts[1], offers=())
    for case in guest_cases(inventory):
        found = move_views.views(case, twin, node_flags.node(twin))
        assert found.alive.lost == frozenset(), case.guest.subject
