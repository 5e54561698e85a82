"""Cases hold what judging needs, and share what many guests have in common."""

from __future__ import annotations

import pytest

from support import rule_case
from unmask.engine.cases import cluster_cases, guest_cases, host_cases
from unmask.errors import UnreadError
from unmask.model.inventory import Inventory

HOSTS = {"lab/one": "broadwell", "lab/two": "broadwell", "lab/old": "nehalem", "solo": "rome"}


def inventory(*guests: dict[str, object]) -> Inventory:
    """Return four hosts, three of them in one cluster, and some guests."""
    return rule_case.inventory(HOSTS, list(guests))


def test_guests_with_equal_settings_share_one_view() -> None:
    cases = guest_cases(
        inventory(
            {"subject": "lab/1"},
            {"subject": "lab/2", "host": "lab/two"},
            {"subject": "lab/3", "host": "lab/old"},
            {"subject": "lab/4", "cpu": "Westmere"},
        )
    )
    assert cases[0].view is cases[1].view
    assert cases[2].view is not cases[0].view
    assert cases[3].view is not cases[0].view


def test_peers_are_the_other_hosts_of_the_cluster_and_shared() -> None:
    first, second, alone = guest_cases(
        inventory({"subject": "lab/1"}, {"subject": "lab/2"}, {"subject": "3", "host": "solo"})
    )
    assert [peer.name for peer in first.peers] == ["two", "old"]
    assert first.peers is second.peers
    assert first.cluster is not None
    assert first.cluster.name == "lab"
    assert alone.peers == ()


def test_a_running_guest_is_seen_as_it_runs_and_its_change_apart() -> None:
    (case,) = guest_cases(
        inventory({"cpu": "Westmere", "running": {"like": "kvm64"}, "pending": "Haswell"})
    )
    assert case.view.hides("aes")
    assert case.pending is not None
    assert case.pending.shows("avx2")
    (still,) = guest_cases(inventory({"cpu": "Westmere"}))
    assert still.view.shows("aes")
    assert still.pending is None


def test_a_guest_whose_host_is_not_there_knows_that_it_does_not_know() -> None:
    case, again = guest_cases(
        inventory({"host": "lab/gone"}, {"subject": "lab/2", "host": "lab/gone"})
    )
    with pytest.raises(UnreadError, match="lab/gone is not in this inventory"):
        _ = case.host_cpu
    assert case.view is again.view
    assert case.cluster is None


def test_two_hosts_that_are_not_there_are_two() -> None:
    cases = guest_cases(inventory({"host": "lab/x"}, {"subject": "lab/2", "host": "lab/y"}))
    reasons = []
    for case in cases:
        with pytest.raises(UnreadError) as error:
            _ = case.host.value
        reasons.append(error.value.reason)
    assert reasons == [
        "the host lab/x is not in this inventory",
        "the host lab/y is not in this inventory",
    ]


def test_hosts_and_clusters_have_cases_too() -> None:
    whole = inventory({"subject": "lab/1"}, {"subject": "lab/2", "host": "lab/two"})
    assert [case.host.subject for case in host_cases(whole)] == list(HOSTS)
    guests = guest_cases(whole)
    (lab,) = (case for case in cluster_cases(whole, guests) if case.cluster.subject == "lab")
    assert [host.name for host in lab.hosts] == ["one", "two", "old"]
    assert lab.guests == guests


def test_an_empty_inventory_has_no_cases() -> None:
    for made in (guest_cases, host_cases, cluster_cases):
        assert made(Inventory()) == ()


def test_many_guests_need_few_views() -> None:
    cpus = ("kvm64", "x86-64-v2-AES", "Haswell", "host")
    guests: list[dict[str, object]] = [
        {"subject": f"lab/{number}", "cpu": cpus[number % 4], "host": f"lab/n{number % 8}"}
        for number in range(2000)
    ]
    hosts = {f"lab/n{number}": "broadwell" if number % 2 else "rome" for number in range(8)}
    cases = guest_cases(rule_case.inventory(hosts, guests))
    assert len({id(case.view) for case in cases}) == 4
    assert len({id(case.peers) for case in cases}) == 8
