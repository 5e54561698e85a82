"""Finders of network encryption take whatever a guest claims: no crash, no flood."""

from __future__ import annotations

import importlib

import pytest

from support.inventories import random_inventory
from support.visited import find_and_owe, guest, inside
from unmask.crypto.consumers import consumers
from unmask.model.inside_programs import Library, TlsProcess, TlsService
from unmask.model.inside_tunnels import IpSec, Listener
from unmask.workloads import ipsec, tls
from unmask.workloads._asked import FACTS, listed
from unmask.workloads._tls_ports import MOST_PORTS, PORTS

NETWORK = ("tls", "database", "openvpn", "ipsec", "wireguard", "ssh", "samba", "backup")
MODULES = [importlib.import_module(f"unmask.workloads.{name}") for name in NETWORK]


@pytest.mark.parametrize("seed", range(60))
def test_any_inventory(seed: int) -> None:
    for seen in random_inventory(seed).guests:
        for module in MODULES:
            found, _ = find_and_owe(module, seen)
            for item in found:
                assert item.kind is module.WORKLOAD.kind
                assert item.consumer in consumers() or item.consumer == ""
                assert item.evidence
                assert all(item.evidence)


def test_some_random_guest_has_workloads() -> None:
    guests = [item for seed in range(60) for item in random_inventory(seed).guests]
    assert any(find_and_owe(module, item)[0] for item in guests for module in MODULES)


def test_a_thousand_of_everything_is_a_sentence_of_bounded_length() -> None:
    many = tuple(Listener("tcp", f"10.0.{n // 250}.{n % 250}", 443, ("app",)) for n in range(1000))
    names = tuple(f"site{n}" for n in range(1000))
    read = inside(listeners=many, tls_processes=(), tls_services=(),
                  ipsec=IpSec(daemon="strongSwan", connections=names))  # fmt: skip
    for module in (tls, ipsec):
        found, _ = find_and_owe(module, guest(read))
        assert len(found) == 1
        assert all(len(text) < 500 for text in found[0].evidence)


def test_a_server_that_claims_all_ports_costs_little() -> None:
    ports = tuple(range(1, 5001))
    sockets = tuple(
        Listener("tcp", f"10.0.{n % 250}.1", n, ("nginx",), (n,)) for n in range(1, 2001)
    )
    programs = tuple(
        TlsProcess("nginx", f"/x{n}", (Library.OPENSSL,), ("libssl.so.3",), (n,))
        for n in range(200)
    )
    read = inside(
        listeners=sockets, tls_processes=programs, tls_services=(TlsService("nginx", ports),)
    )
    found, _ = find_and_owe(tls, guest(read))
    assert all(len(item.ports) <= MOST_PORTS + len(PORTS) + 65 for item in found)
    assert all(len(item.evidence) <= FACTS for item in found)
    assert found[0].evidence[-1].endswith("more facts like these.")


def test_lists() -> None:
    assert listed([]) == ""
    assert listed(["a"]) == "a"
    assert listed("ab") == "a and b"
    assert listed("abc", "or") == "a, b or c"
    assert listed(range(14)).endswith("9, 10 and 3 more")
