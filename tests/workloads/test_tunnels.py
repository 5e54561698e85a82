"""OpenVPN, IPsec, WireGuard and SSH: who encrypts, with which cipher."""

from __future__ import annotations

import pytest

from support.visited import find, find_and_owe, guest, inside, parsed, recorded
from unmask.model.finding import Confidence
from unmask.model.inside import CryptoDriver, KernelCrypto, Partial, System
from unmask.model.inside_programs import OpenSsl
from unmask.model.inside_tunnels import (
    IpSec,
    Listener,
    OpenVpn,
    SecurityAssociation,
    SshServer,
    WireGuard,
)
from unmask.model.reading import Missing
from unmask.model.workload import Activity
from unmask.workloads import ipsec, openvpn, ssh, wireguard

OPENSSL = OpenSsl("OpenSSL 3.0.20")
SOCKETS = recorded("listeners", "ss as root, bookworm")
NOBODYS = recorded("listeners", "ss as nobody")
SERVER = OpenVpn("/etc/openvpn/s.conf", "server", 1194, "udp", "tun", version="2.6.14",
                 library="OpenSSL 3.0.20")  # fmt: skip
BROKEN = Missing("the guest's answer ended before it")
FREEBSD = System("FreeBSD", kernel="14.1-RELEASE")


@pytest.mark.parametrize("module", [openvpn, ipsec, wireguard, ssh])
def test_nobody_looked(module: object) -> None:
    assert find(module, guest()) == []


@pytest.mark.parametrize("module", [openvpn, ipsec, wireguard, ssh])
def test_windows_has_no_probe_for_it_and_owes_nothing(module: object) -> None:
    assert find(module, guest(inside(system=System("Windows", kernel="10.0.20348")))) == []


@pytest.mark.parametrize(
    ("module", "reading"),
    [(openvpn, "openvpn"), (ipsec, "ipsec"), (wireguard, "wireguard"), (ssh, "ssh")],
)
def test_what_could_not_be_read_is_owed(module: object, reading: str) -> None:
    found, owed = find_and_owe(module, guest(inside(**{reading: BROKEN})))
    assert (found, owed) == ([], "the guest's answer ended before it ()")


@pytest.mark.parametrize(
    ("module", "reading", "nothing"),
    [
        (openvpn, "openvpn", ()),
        (ipsec, "ipsec", IpSec()),
        (wireguard, "wireguard", ()),
        (ssh, "ssh", SshServer()),
    ],
)
def test_none_is_none(module: object, reading: str, nothing: object) -> None:
    assert find(module, guest(inside(listeners=(), **{reading: nothing}))) == []


def test_openvpn_of_a_recorded_guest() -> None:
    read = inside(openvpn=recorded("openvpn", "server of Debian 12"), listeners=SOCKETS)
    (only,) = find(openvpn, guest(read))
    assert (only.name, only.consumer) == ("/etc/openvpn/server/server.conf", "openvpn")
    assert (only.cipher, only.version) == ("AES-256-GCM", "3.0.20")
    assert only.detail == "OpenSSL 3.0.20 in user space, server, UDP port 1194"
    assert (only.activity, only.confidence) == (Activity.ACTIVE, Confidence.FIRM)
    assert only.ports == (1194,)
    assert "openvpn listens on UDP port 1194." in only.evidence


@pytest.mark.parametrize(
    ("modules", "offload", "consumer", "version"),
    [
        (("ovpn",), None, "openvpn-dco", "6.1.0-50-cloud-amd64"),
        (("ovpn-dco-v2",), None, "openvpn-dco", "6.1.0-50-cloud-amd64"),
        (("ovpn",), False, "openvpn", "3.0.20"),
        ((), None, "openvpn", "3.0.20"),
    ],
)
def test_openvpn_in_the_kernel(
    *, modules: tuple[str, ...], offload: bool | None, consumer: str, version: str
) -> None:
    config = OpenVpn("/s.conf", "server", offload=offload, library="OpenSSL 3.0.20")
    read = inside(openvpn=(config,), listeners=(), kernel_crypto=KernelCrypto(modules))
    (only,) = find(openvpn, guest(read))
    assert (only.consumer, only.version) == (consumer, version)
    assert only.confidence is Confidence.FIRM
    assert only.activity is Activity.CONFIGURED


def test_openvpn_in_freebsds_kernel() -> None:
    read = inside(
        system=FREEBSD,
        openvpn=(SERVER,),
        listeners=(),
        kernel_crypto=KernelCrypto(("if_ovpn",)),
    )
    (only,) = find(openvpn, guest(read))
    assert (only.consumer, only.version) == ("freebsd", "14.1-RELEASE")


def test_openvpn_whose_kernel_is_not_known_is_a_guess() -> None:
    (only,) = find(openvpn, guest(inside(openvpn=(SERVER,), listeners=(), kernel_crypto=BROKEN)))
    assert (only.consumer, only.confidence) == ("openvpn", Confidence.TENTATIVE)
    assert any("the guest's answer ended" in text for text in only.evidence)


@pytest.mark.parametrize(
    ("library", "consumer", "version"),
    [
        ("mbed TLS 3.6.0", "mbedtls", "3.6.0"),
        ("wolfSSL 5.7.2", "wolfssl", "5.7.2"),
        ("LibreSSL 3.8.2", "", ""),
        ("OpenSSL 1.1.1w", "openvpn", "1.1.1w"),
        ("", "openvpn", "3.0.20"),
    ],
)
def test_openvpn_by_its_library(library: str, consumer: str, version: str) -> None:
    config = OpenVpn("/s.conf", "server", offload=False, library=library)
    (only,) = find(openvpn, guest(inside(openvpn=(config,), openssl=OPENSSL)))
    assert (only.consumer, only.version) == (consumer, version)


def test_openvpn_with_a_static_key_takes_no_aead_cipher() -> None:
    configs = recorded("openvpn", "client, static key, tap, TCP")
    found = {item.name: item for item in find(openvpn, guest(inside(openvpn=configs)))}
    assert found["/etc/openvpn/static.conf"].cipher == "AES-256-CBC"
    assert found["/etc/openvpn/inline.conf"].cipher == "BF-CBC"
    assert found["/var/etc/openvpn/server1/config.ovpn"].cipher == "CHACHA20-POLY1305"


def test_a_client_holds_some_port() -> None:
    config = OpenVpn("/c.conf", "client", offload=False)
    sockets = (Listener("udp", "0.0.0.0", 40112, ("openvpn",), (7,)),)  # noqa: S104
    (only,) = find(openvpn, guest(inside(openvpn=(config,), listeners=sockets)))
    assert (only.activity, only.ports) == (Activity.ACTIVE, (40112,))


def test_openvpn_that_runs_without_a_configuration_to_read() -> None:
    sockets = (
        Listener("tcp", "127.0.0.1", 1194, ("openvpn",), (7,)),
        Listener("udp", "0.0.0.0", 1195, ("openvpn",), (8,)),  # noqa: S104
    )
    partial = (Partial("openvpn", "the user may not read 1 file of it", "root in the guest"),)
    read = inside(openvpn=(), listeners=sockets, openssl=OPENSSL, partial=partial)
    (only,) = find(openvpn, guest(read))
    assert (only.name, only.consumer, only.version) == ("openvpn", "openvpn", "3.0.20")
    assert (only.ports, only.confidence) == ((1194, 1195), Confidence.TENTATIVE)
    assert "Not all was seen: the user may not read 1 file of it (needs root in the guest)." in (
        only.evidence
    )


def test_openvpn_by_its_port_where_neither_names_nor_configurations_are_readable() -> None:
    (only,) = find(openvpn, guest(inside(openvpn=(), listeners=NOBODYS)))
    assert (only.ports, only.confidence) == ((1194,), Confidence.TENTATIVE)
    assert find(openvpn, guest(inside(openvpn=(), listeners=SOCKETS)))[0].ports == (1194,)


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
    assert (only.name, only.consumer) == ("ESP rfc4106(gcm(aes))", "ipsec")
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


def test_ssh_of_a_recorded_guest() -> None:
    read = inside(ssh=recorded("ssh", "OpenSSH 9.2 as root"), listeners=SOCKETS, openssl=OPENSSL)
    (only,) = find(ssh, guest(read))
    assert (only.name, only.consumer) == ("OpenSSH_9.2p1", "openssl")
    assert only.cipher == "chacha20-poly1305@openssh.com"
    assert only.detail == "OpenSSL 3.0.20, port 22"
    assert (only.activity, only.confidence) == (Activity.ACTIVE, Confidence.FIRM)


def test_ssh_with_a_policy_that_puts_aes_first() -> None:
    read = inside(ssh=recorded("ssh", "crypto policy of RHEL"), listeners=(), openssl=OPENSSL)
    (only,) = find(ssh, guest(read))
    assert (only.cipher, only.activity) == ("aes256-gcm@openssh.com", Activity.CONFIGURED)


def test_ssh_whose_order_was_not_read() -> None:
    read = inside(ssh=SshServer("OpenSSH_9.2p1"), listeners=NOBODYS, openssl=OPENSSL)
    (only,) = find(ssh, guest(read))
    assert (only.cipher, only.confidence) == (ssh.FIRST, Confidence.TENTATIVE)
    assert only.ports == (22,)


def test_dropbear_has_not_been_looked_at() -> None:
    (only,) = find(ssh, guest(inside(ssh=SshServer("Dropbear v2022.83"), openssl=OPENSSL)))
    assert only.consumer == ""


def test_a_link_local_scope_does_not_hide_a_loopback() -> None:
    sockets = parsed("listeners", sockets=(
        'tcp LISTEN 0 9 127.0.0.53%lo:1194 0.0.0.0:* users:(("openvpn",pid=5,fd=5))\n'
    ))  # fmt: skip
    (only,) = find(openvpn, guest(inside(openvpn=(), listeners=sockets)))
    assert only.detail == "TCP port 1194 of 127.0.0.53%lo only"
