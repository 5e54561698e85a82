"""Addresses that an agent tells: which ones, in which order, and nothing that is none."""

from __future__ import annotations

from typing import Any

import pytest

from unmask.visits._addresses import MOST, of_interfaces


def interface(name: str, *addresses: str) -> dict[str, Any]:
    return {
        "name": name,
        "ip-addresses": [
            {"ip-address": address, "ip-address-type": "ipv4", "prefix": 24}
            for address in addresses
        ],
    }


def test_the_likeliest_come_first() -> None:
    told = [
        interface("lo", "127.0.0.1", "::1"),
        interface("docker0", "172.17.0.1"),
        interface("wg0", "10.9.0.1"),
        interface("ens18", "2001:db8::7", "fe80::1", "192.0.2.7"),
        interface("ens19", "198.51.100.7"),
    ]
    assert of_interfaces(told) == (
        "192.0.2.7",
        "198.51.100.7",
        "2001:db8::7",
        "10.9.0.1",
        "172.17.0.1",
    )


def test_names_of_windows_are_no_loopback() -> None:
    told = [
        interface("Loopback Pseudo-Interface 1", "127.0.0.1"),
        interface("Local Area Connection", "192.0.2.9"),
        interface("vEthernet", "10.0.0.2"),
    ]
    assert of_interfaces(told) == ("192.0.2.9", "10.0.0.2")


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "::1", "169.254.169.254", "fe80::1", "224.0.0.1", "ff02::1", "0.0.0.0", "::",  # noqa: S104
        "255.255.255.255", "::ffff:127.0.0.1", "10.0.0.1; reboot", "-oProxyCommand=x", "", "host",
        "1" * 100_000,
    ],
)  # fmt: skip
def test_what_leads_nowhere_or_is_no_address_is_left_out(address: str) -> None:
    assert of_interfaces([interface("eth0", address)]) == ()


@pytest.mark.parametrize(
    "answer",
    [None, "x", 7, {}, {"result": []}, [None, 3], [{"name": 3}], [{"ip-addresses": "x"}],
     [{"ip-addresses": [None, {"ip-address": ["x"]}]}]],
)  # fmt: skip
def test_other_shapes_tell_nothing(answer: Any) -> None:
    assert of_interfaces(answer) == ()


def test_a_guest_cannot_name_more_than_so_many() -> None:
    told = [interface("eth0", *(f"10.0.{high}.{low}" for high in range(9) for low in range(200)))]
    assert len(of_interfaces(told)) == MOST
