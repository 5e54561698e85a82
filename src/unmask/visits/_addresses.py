"""The IP addresses that a guest's agent tells, sorted by how likely one gets there."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator
from typing import Any

MOST = 16
"""Addresses that are kept."""
MOST_LOOKED_AT = 1000
"""Interfaces of one guest, and addresses of one interface; a host of containers has hundreds."""

INNER = re.compile(
    r"(lo|docker|br-|veth|virbr|vnet|cni|cali|flannel|podman|lxc|lxd|kube|tap|dummy)"
)
"""Interfaces whose addresses lead to the guest's own guests and containers."""
TUNNEL = re.compile(r"wg|tun|ovpn|tailscale|zt|ppp|ipsec|gif|gre|sit")
"""Interfaces that can be reached by those only who are in the tunnel."""


def of_interfaces(answer: Any) -> tuple[str, ...]:
    """Return the addresses in an answer of guest-network-get-interfaces, the likeliest first.

    Addresses that lead nowhere or to the asker itself (loopback, link-local, multicast) are left
    out, and so is everything that has another shape than the agent's (qga/qapi-schema.json).
    """
    found: dict[str, tuple[int, int]] = {}
    for place, (name, text) in enumerate(_told(answer)):
        address = _address(text)
        if address is not None:
            rank = 2 if INNER.match(name) else 1 if TUNNEL.match(name) else 0
            found.setdefault(str(address), (rank * 2 + (address.version == 6), place))
    return tuple(sorted(found, key=lambda text: found[text]))[:MOST]


def _told(answer: Any) -> Iterator[tuple[str, str]]:
    """Yield the name of the interface and the text of each address."""
    for interface in answer[:MOST_LOOKED_AT] if isinstance(answer, list) else []:
        if not isinstance(interface, dict):
            continue
        listed = interface.get("ip-addresses")
        for item in listed[:MOST_LOOKED_AT] if isinstance(listed, list) else []:
            if isinstance(item, dict):
                yield str(interface.get("name", "")).lower(), str(item.get("ip-address", ""))


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(text[:60])
    except ValueError:
        return None
    if (
        address.is_loopback
        or address.is_link_local
        or address.is_multicast
        or address.is_unspecified
        or (address.is_reserved and address.version == 4)
    ):
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return None if mapped else address
