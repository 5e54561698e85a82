"""IPsec and WireGuard: what the kernel encrypts, and what does in its place."""

from __future__ import annotations

import pytest

from support.visited import find, find_and_owe, guest, inside, recorded
from unmask.model.finding import Confidence
from unmask.model.inside import CryptoDriver, Partial, System
from unmask.model.inside_tunnels import (
    IpSec,
    Listener,
    SecurityAssociation,
    WireGuard,
)
from unmask.model.reading import Missing
from unmask.model.workload import Activity
from unmask.workloads import ipsec, wireguard

SOCKETS = recorded("listeners", "ss as root, bookworm")
NOBODYS = recorded("listeners", "ss as nobody")
BROKEN = Missing("the guest's answer ended before it")
FREEBSD = System("FreeBSD", kernel="14.1-RELEASE")


DRIVERS = (
    CryptoDriver("rfc4106(gcm(aes))", "rfc4106-gcm-aesni", "aesni_intel", 400),
    CryptoDriver("cbc(aes)", "cbc-aes-aesni", "aesni_intel", 400),
)


def test_ipsec_of_a_recorded_guest() -> None:
    read = inside(
        ipsec=recorded("ipsec", "strongSwan with swanctl, one ESP state"),
        listeners=SOCKETS,
        crypto_drivers=DRIVERS,
    )
    (only,) = find(ipsec, guest(read))
    assert (only.name, only.consumer) == ("ESP", "ipsec")
    assert (only.cipher, only.driver) == ("rfc4106(gcm(aes))", "rfc4106-gcm-aesni")
    assert (only.version, only.activity) == ("6.1.0-50-cloud-amd64", Activity.ACTIVE)
    assert only.evidence == (
        "An ESP association in the kernel uses rfc4106(gcm(aes)) with keys of 128 bits.",
        "The kernel serves it with the driver rfc4106-gcm-aesni.",
    )


def test_each_algorithm_of_the_kernel_is_one_workload_and_ah_is_none() -> None:
    read = inside(
        ipsec=IpSec(
            (
                *recorded("ipsec", "associations of three kinds").associations,
                SecurityAssociation("cbc(aes)", "hmac(sha1)", 128, "esp"),
                SecurityAssociation("ecb(cipher_null)", "hmac(sha1)", None, "esp"),
            )
        ),
        crypto_drivers=DRIVERS,
    )
    found = find(ipsec, guest(read))
    assert [item.cipher for item in found] == ["cbc(aes)", "rfc7539esp(chacha20,poly1305)"]
    assert "keys of 128 and 256 bits" in found[0].evidence[0]
    assert found[1].driver == ""
    assert "has none for rfc7539esp" in found[1].evidence[1]


def test_ipsec_of_freebsd() -> None:
    read = inside(system=FREEBSD, ipsec=recorded("ipsec", "FreeBSD"))
    found = find(ipsec, guest(read))
    assert [(item.consumer, item.cipher) for item in found] == [
        ("freebsd", "aes-gcm-16"), ("freebsd", "rijndael-cbc"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("proposals", "cipher"),
    [
        (("aes256gcm16-prfsha384-ecp384", "aes256-sha256"), "aes256gcm16-prfsha384-ecp384"),
        (("aes256-sha256-modp2048",), "aes-cbc"),
        (("aes256",), "aes-cbc"),
        (("aes_gcm256-null",), "aes_gcm256-null"),
        (("chacha20poly1305-sha256-x25519",), "chacha20poly1305-sha256-x25519"),
        (("AES_CBC_256",), "AES_CBC_256"),
        ((), ""),
    ],
)
def test_ipsec_by_its_proposals(proposals: tuple[str, ...], cipher: str) -> None:
    read = inside(ipsec=IpSec(daemon="strongSwan", connections=("site",), proposals=proposals))
    (only,) = find(ipsec, guest(read))
    assert (only.name, only.consumer, only.cipher) == ("strongSwan", "ipsec", cipher)
    assert only.activity is Activity.CONFIGURED
    assert only.confidence is (Confidence.FIRM if cipher else Confidence.TENTATIVE)


def test_freebsds_ipsec_without_a_known_cipher_is_not_judged_as_a_disk() -> None:
    read = inside(system=FREEBSD, ipsec=IpSec(daemon="strongSwan", connections=("site",)))
    (only,) = find(ipsec, guest(read))
    assert (only.consumer, only.cipher) == ("freebsd", "aes-gcm")
    assert only.confidence is Confidence.TENTATIVE


def test_a_daemon_that_encrypts_itself() -> None:
    found = IpSec(daemon="strongSwan", plugins=("kernel-libipsec",), connections=("site",))
    (only,) = find(ipsec, guest(inside(ipsec=found)))
    assert only.consumer == "strongswan"


def test_an_installed_daemon_without_connections_is_no_workload() -> None:
    assert find(ipsec, guest(inside(ipsec=IpSec(daemon="strongSwan"), listeners=()))) == []


def test_ipsec_by_its_ports() -> None:
    partial = (Partial("ipsec", "without root it lacks associations", "root in the guest"),)
    read = inside(ipsec=IpSec(), listeners=NOBODYS, partial=partial)
    (only,) = find(ipsec, guest(read))
    assert (only.ports, only.confidence) == ((500, 4500), Confidence.TENTATIVE)
    assert only.evidence[-1].startswith("Not all was seen: without root it lacks associations")
    holders = tuple(item for item in NOBODYS if item.port != 4500)
    assert find(ipsec, guest(inside(ipsec=IpSec(), listeners=holders))) == []


def test_wireguard_of_a_recorded_guest() -> None:
    read = inside(wireguard=recorded("wireguard", "wg of Debian"), listeners=SOCKETS)
    (only,) = find(wireguard, guest(read))
    assert (only.name, only.consumer, only.ports) == ("wg0", "wireguard", (51820,))
    assert only.detail == "in the kernel, UDP port 51820"
    assert (only.activity, only.confidence) == (Activity.ACTIVE, Confidence.CERTAIN)
    assert only.version == "6.1.0-50-cloud-amd64"


def test_wireguard_outside_the_kernel() -> None:
    read = inside(wireguard=(WireGuard("utun3", userspace=True), WireGuard("wg0", peers=0)))
    program, kernel = find(wireguard, guest(read))
    assert (program.consumer, program.confidence) == ("go", Confidence.TENTATIVE)
    assert (program.cipher, program.version) == ("chacha20-poly1305", "")
    assert kernel.activity is Activity.CONFIGURED


def test_wireguard_of_freebsd() -> None:
    (only,) = find(wireguard, guest(inside(system=FREEBSD, wireguard=(WireGuard("wg0"),))))
    assert only.consumer == "freebsd"


def test_wireguard_by_its_port_where_interfaces_were_not_read() -> None:
    found, owed = find_and_owe(wireguard, guest(inside(wireguard=BROKEN, listeners=SOCKETS)))
    assert [(item.ports, item.confidence) for item in found] == [((51820,), Confidence.TENTATIVE)]
    assert owed
    held = (Listener("udp", "0.0.0.0", 51820, ("game",), (7,)),)  # noqa: S104
    assert find_and_owe(wireguard, guest(inside(wireguard=BROKEN, listeners=held)))[0] == []
    assert find(wireguard, guest(inside(wireguard=(), listeners=SOCKETS))) == []


def test_ipsec_that_is_configured_to_encrypt_nothing_is_not_taken_for_aes() -> None:
    read = inside(ipsec=IpSec(daemon="Libreswan", connections=("c",), proposals=("null-sha1",)))
    (only,) = find(ipsec, guest(read))
    assert only.cipher == "null-sha1"
    assert not any("is assumed" in text for text in only.evidence)


def test_ipsec_that_only_signs_is_not_taken_for_aes() -> None:
    signing = SecurityAssociation("ecb(cipher_null)", "hmac(sha256)", protocol="esp")
    read = inside(ipsec=IpSec((signing,), daemon="strongSwan", connections=("c",)), listeners=())
    assert find(ipsec, guest(read)) == []
