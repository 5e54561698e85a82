"""Merged inventories: nothing is lost, and one subject means one thing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from support.documents import lab
from support.inventories import random_inventory
from unmask.engine.merge import merge
from unmask.engine.site import of_site
from unmask.model.inventory import Inventory
from unmask.model.reading import Known
from unmask.model.tie import Confinement


def test_one_inventory_stays_as_it_is() -> None:
    assert merge([lab()]).inventory == lab()
    assert merge([]).inventory == Inventory()


def test_different_subjects_are_put_together_in_order() -> None:
    whole = lab()
    split = [
        replace(whole, guests=whole.guests[5:], targets=("b",), gaps=()),
        replace(whole, guests=whole.guests[:5], targets=("a",)),
    ]
    merged = merge(split)
    assert merged.notes == ()
    assert merged.inventory.guests == whole.guests
    assert merged.inventory.hosts == whole.hosts
    assert merged.inventory.targets == ("b", "a")
    assert merged.inventory.gaps == whole.gaps


def test_the_same_thing_seen_twice_appears_once() -> None:
    merged = merge([lab(), replace(lab(), targets=("again",))])
    assert merged.inventory == replace(lab(), targets=("lab", "again"))
    assert merged.notes == ()


def test_a_copy_of_a_copy_is_the_same_thing() -> None:
    moved = [replace(guest, location=f"b/{guest.ident}.conf") for guest in lab().guests]
    merged = merge([lab(), replace(lab(), targets=("b",), guests=tuple(moved))])
    assert merged.notes == ()
    assert merged.inventory.guests == lab().guests


def test_a_subject_with_two_meanings_stays_two() -> None:
    first = lab()
    changed = replace(first.guests[0], name="another")
    second = replace(first, targets=("copy.tar",), guests=(changed, *first.guests[1:]))
    merged = merge([first, second])
    names = {guest.subject: guest.name for guest in merged.inventory.guests}
    assert names["lab/100"] == "vpn-gateway"
    assert names["copy.tar:lab/100"] == "another"
    (note,) = merged.notes
    assert note.startswith("copy.tar describes lab/100 differently from an earlier target")
    hosts = {host.subject: host for host in merged.inventory.hosts}
    clusters = {cluster.subject for cluster in merged.inventory.clusters}
    for guest in merged.inventory.guests:
        assert guest.host in hosts
    assert {host.cluster for host in hosts.values() if host.cluster} <= clusters
    assert hosts["copy.tar:pi"].cluster == ""
    assert {gap.subject for gap in merged.inventory.gaps} == {"lab/two", "copy.tar:lab/two"}


@pytest.mark.parametrize("seed", range(30))
def test_no_guest_is_lost_and_no_subject_is_used_twice(seed: int) -> None:
    inventories = [
        replace(random_inventory(seed + offset), targets=(f"target{offset}",)) for offset in (0, 1)
    ]
    merged = merge(inventories).inventory
    for what in ("hosts", "guests", "clusters"):
        subjects = [item.subject for item in getattr(merged, what)]
        assert subjects == sorted(set(subjects))
        assert len(subjects) == sum(len(getattr(item, what)) for item in inventories)


def test_a_target_that_is_called_as_the_site_of_another_loses_nothing() -> None:
    first = lab()
    site = of_site(replace(first, targets=("berlin.json",)), "berlin")
    changed = tuple(replace(guest, name=f"other {guest.name}") for guest in first.guests)
    third = replace(first, targets=("berlin",), guests=changed)
    merged = merge([first, site, third])
    assert len(merged.inventory.guests) == 3 * len(first.guests)
    names = {guest.subject: guest.name for guest in merged.inventory.guests}
    assert names["berlin:lab/100"] == "vpn-gateway"
    assert names["berlin (2):lab/100"] == "other vpn-gateway"
    (note,) = merged.notes
    assert "its subjects are shown as berlin (2):..." in note


def test_rules_about_other_guests_follow_their_new_subjects() -> None:
    rule = Confinement("r", ("n",), apart=("lab/101",), together=("lab/102", "lab/103"))
    first = lab()
    changed = replace(first.guests[0], name="another", confined=Known((rule,)))
    second = replace(first, targets=("b",), guests=(changed, *first.guests[1:]))
    found = {guest.subject: guest.confined for guest in merge([first, second]).inventory.guests}
    assert found["b:lab/100"] == Known(
        (replace(rule, apart=("b:lab/101",), together=("b:lab/102", "b:lab/103")),)
    )
    assert found["b:lab/101"] == first.guests[1].confined
