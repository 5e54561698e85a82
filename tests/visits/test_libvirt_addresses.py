"""Where a domain can be reached: who tells it, which addresses lead there, in which order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from unmask.connect.libvirt_guest import AddressSource, Interface
from unmask.errors import UnreadError
from unmask.visits._channel import NoWayError
from unmask.visits._libvirt_addresses import MOST, addresses, cards, ranked

LEASE, AGENT, ARP = AddressSource.LEASE, AddressSource.AGENT, AddressSource.ARP
MAC = "52:54:00:aa:bb:01"
OTHER = "52:54:00:aa:bb:02"

DOMAIN = """<domain type='kvm'><devices>
<interface type='{kind}'><mac address='{mac}'/>{source}</interface>
</devices></domain>"""
NETWORK = "<network><name>default</name>{forward}</network>"


@dataclass
class Domain:
    """A domain whose three sources say what they are told to."""

    kind: str = "network"
    local: bool = True
    forward: str = "<forward mode='nat'/>"
    told: Mapping[AddressSource, tuple[Interface, ...]] = field(default_factory=dict)

    def xml(self) -> str:
        source = "<source network='default'/>" if self.kind == "network" else ""
        return DOMAIN.format(kind=self.kind, mac=MAC.upper(), source=source)

    def interfaces(self, source: AddressSource) -> tuple[Interface, ...]:
        if source not in self.told:
            raise UnreadError("it does not tell")
        return self.told[source]

    def network(self, name: str) -> str:
        if name != "default":
            raise UnreadError("there is none")
        return NETWORK.format(forward=self.forward)


def card(*addresses: str, mac: str = MAC, name: str = "eth0") -> Interface:
    return Interface(name, mac, addresses)


TOLD = {LEASE: (card("192.168.122.9", name="vnet0"),), AGENT: (card("192.168.122.9", "fe80::1"),)}


def test_the_host_is_believed_before_the_guest() -> None:
    told = [
        (LEASE, card("10.0.0.1")),
        (AGENT, card("10.0.0.2", "10.0.0.1")),
        (ARP, card("10.0.0.3")),
    ]
    assert ranked(told, frozenset({MAC})) == ("10.0.0.1", "10.0.0.2", "10.0.0.3")


def test_cards_come_before_bridges_and_tunnels_in_the_guest() -> None:
    told = [
        (AGENT, card("172.17.0.1", mac=OTHER, name="docker0")),
        (AGENT, card("10.8.0.1", mac="", name="tun0")),
        (AGENT, card("192.0.2.9", mac=OTHER, name="ens7")),
        (AGENT, card("192.0.2.7", "2001:db8::7")),
    ]
    expected = ("192.0.2.7", "2001:db8::7", "192.0.2.9", "172.17.0.1", "10.8.0.1")
    assert ranked(told, frozenset({MAC})) == expected


def test_addresses_that_lead_nowhere_are_left_out() -> None:
    useless = (
        "127.0.0.1",
        "::1",
        "0.0.0.0",  # noqa: S104 - nobody binds to it
        "::",
        "224.0.0.1",
        "ff02::1",
        "169.254.1.2",
        "fe80::1",
    )
    strange = ("::ffff:127.0.0.1", "fe80::1%eth0", "10.0.0.256", "", "localhost", "\x1b[2J")
    assert ranked([(AGENT, card(*useless, *strange))], frozenset({MAC})) == ()


def test_a_guest_with_a_thousand_addresses_has_a_few_told_on() -> None:
    many = card(*(f"10.0.{high}.{low}" for high in range(4) for low in range(1, 250)))
    assert len(ranked([(AGENT, many)], frozenset({MAC}))) == MOST


def test_on_this_machine_its_own_networks_can_be_reached() -> None:
    assert addresses(Domain(told=TOLD)) == ("192.168.122.9",)
    assert addresses(Domain(told=TOLD, forward="")) == ("192.168.122.9",)
    assert addresses(Domain()) == ()


@pytest.mark.parametrize("forward", ["<forward mode='nat'/>", "", "<forward/>"])
def test_behind_another_hosts_nat_nobody_is_looked_for_here(forward: str) -> None:
    with pytest.raises(NoWayError, match="from its host only") as caught:
        addresses(Domain(told=TOLD, local=False, forward=forward))
    assert "jump host" in caught.value.needs


def test_routed_and_bridged_guests_of_another_host_can_be_reached() -> None:
    routed = Domain(told=TOLD, local=False, forward="<forward mode='route'/>")
    assert addresses(routed) == ("192.168.122.9",)
    assert addresses(Domain(kind="bridge", told=TOLD, local=False)) == ("192.168.122.9",)


def test_qemus_own_network_leads_nowhere() -> None:
    with pytest.raises(NoWayError, match="from its host only"):
        addresses(Domain(kind="user", told={AGENT: (card("10.0.2.15"),)}))


def test_xml_that_is_none_is_no_way() -> None:
    class Broken(Domain):
        def xml(self) -> str:
            return "<domain>"

    with pytest.raises(NoWayError, match="the XML of the domain"):
        addresses(Broken())


def test_cards_are_read_whatever_is_missing() -> None:
    bare = "<interface/><interface type='network'><source/></interface>"
    text = f"<domain><devices>{bare}</devices></domain>"
    assert [(item.mac, item.kind, item.network) for item in cards(text)] == [
        ("", "", ""),
        ("", "network", ""),
    ]
