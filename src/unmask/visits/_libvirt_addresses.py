"""At which addresses a domain can be reached from here.

Three sources tell them: the DHCP server of libvirt's networks, the guest agent and the host's table
of neighbours. What the agent says is the guest's own word: it comes after what the host knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import TYPE_CHECKING, Protocol

from unmask.connect.libvirt_guest import AddressSource, Interface
from unmask.dialects.libvirt import xml
from unmask.errors import InputError, UnreadError
from unmask.visits._addresses import INNER, TUNNEL
from unmask.visits._channel import NoWayError

if TYPE_CHECKING:
    from unmask.dialects.libvirt.xml import Element

SOURCES = (AddressSource.LEASE, AddressSource.AGENT, AddressSource.ARP)
"""In the order in which they are believed."""
MOST = 16
"""Addresses of a guest that are told on."""
REACHABLE_FROM_AFAR = frozenset({"route", "open", "bridge", "hostdev", "private", "vepa"})
"""Forward modes of a network whose guests others can reach (https://libvirt.org/formatnetwork.html);
behind "nat", and in one that forwards nothing, only their host can."""


class Describes(Protocol):
    """Who tells of a domain, or raises `UnreadError`: a `DomainAccess`."""

    @property
    def local(self) -> bool:
        """Return whether its host is the machine that this runs on."""

    def xml(self) -> str:
        """Return the domain's XML."""

    def network(self, name: str) -> str:
        """Return a network's XML."""

    def interfaces(self, source: AddressSource) -> tuple[Interface, ...]:
        """Return the addresses that a source tells."""


@dataclass(frozen=True, slots=True)
class Card:
    """A network card as the domain's XML describes it."""

    mac: str
    kind: str
    """The interface's type: "network", "bridge", "user" ..."""
    network: str = ""


def cards(text: str) -> tuple[Card, ...]:
    """Return the network cards in a domain's XML; raises `InputError`."""
    root = xml.parse(text, "the XML of the domain")
    return tuple(_cards(root))


def _cards(root: Element) -> Iterator[Card]:
    for element in root.findall("devices/interface"):
        mac, source = element.find("mac"), element.find("source")
        yield Card(
            mac=(mac.get("address", "") if mac is not None else "").lower(),
            kind=element.get("type", ""),
            network=source.get("network", "") if source is not None else "",
        )


def addresses(access: Describes) -> tuple[str, ...]:
    """Return the addresses of a domain, the likeliest to be reached first.

    Raises:
        NoWayError: Nobody tells any, or none of them can be reached from here.
    """
    try:
        known = cards(access.xml())
    except (InputError, UnreadError) as error:
        raise NoWayError(str(error)) from error
    hidden = frozenset(card.mac for card in known if _hidden(card, access))
    told = [(source, item) for source in SOURCES for item in _told(access, source)]
    shown = [(source, item) for source, item in told if item.mac not in hidden]
    found = ranked(shown, frozenset(card.mac for card in known))
    if not found and len(shown) < len(told):
        raise NoWayError(
            "its network is reached from its host only",
            "unmask on the host, or an address and a jump host in the configuration",
        )
    return found


def _told(access: Describes, source: AddressSource) -> tuple[Interface, ...]:
    try:
        return access.interfaces(source)
    except UnreadError:
        return ()  # the other sources may know


def _hidden(card: Card, access: Describes) -> bool:
    """Return whether a card's addresses lead nowhere from here, or to somebody else's guest.

    192.168.122.0/24 is there on nearly every host with libvirt: behind another host's NAT it must
    not be looked for on this one.
    """
    if card.kind == "user":
        return True  # QEMU's own network, of which not even the host is a part
    if access.local or card.kind != "network":
        return False
    try:
        forward = xml.parse(access.network(card.network), "a network's XML").find("forward")
    except (InputError, UnreadError):
        return True
    return forward is None or forward.get("mode", "nat") not in REACHABLE_FROM_AFAR


def ranked(
    told: Iterable[tuple[AddressSource, Interface]], macs: frozenset[str]
) -> tuple[str, ...]:
    """Return addresses in the order in which they should be tried, each once.

    Those of the domain's own cards come before others that the agent tells, and those last whose
    names are those of bridges and tunnels inside the guest; then the sources decide.
    """
    found: dict[str, tuple[int, int]] = {}
    for source, interface in told:
        for text in interface.addresses:
            address = _address(text)
            if address is not None:
                rank = (_distance(source, interface, macs), SOURCES.index(source))
                found[str(address)] = min(rank, found.get(str(address), rank))
    return tuple(sorted(found, key=lambda address: found[address]))[:MOST]


def _distance(source: AddressSource, interface: Interface, macs: frozenset[str]) -> int:
    if source is not AddressSource.AGENT or interface.mac in macs:
        return 0
    name = interface.name.lower()
    return 2 if INNER.match(name) or TUNNEL.match(name) else 1


def _address(text: str) -> IPv4Address | IPv6Address | None:
    """Return an address that can be reached by itself; None for others."""
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    plain = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    useless = any(
        item.is_loopback or item.is_multicast or item.is_unspecified or item.is_link_local
        for item in (address, plain or address)
    )
    return None if useless else address
