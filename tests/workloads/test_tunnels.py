"""OpenVPN, IPsec, WireGuard and SSH: who encrypts, with which cipher."""

from __future__ import annotations

import pytest

from support.visited import find, find_and_owe, guest, inside, parsed, recorded
from unmask.model.finding import Confidence
from unmask.model.inside import KernelCrypto, Partial, System
from unmask.model.inside_programs import OpenSsl
from unmask.model.inside_tunnels import (
    IpSec,
    Listener,
    OpenVpn,
    SshServer,
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


@pytest.mark.parametrize(
    ("version", "module", "consumer"),
    [
        ("2.6.14", "ovpn", "openvpn"),
        ("2.6.14", "ovpn_dco_v2", "openvpn-dco"),
        ("2.7.0", "ovpn", "openvpn-dco"),
        ("2.7.0", "ovpn_dco_v2", "openvpn"),
    ],
)
def test_a_release_of_openvpn_speaks_to_one_module_only(
    version: str, module: str, consumer: str
) -> None:
    config = OpenVpn("/s.conf", "server", version=version, library="OpenSSL 3.0.20")
    read = inside(openvpn=(config,), listeners=(), kernel_crypto=KernelCrypto((module,)))
    (only,) = find(openvpn, guest(read))
    assert only.consumer == consumer


def test_openvpn_is_judged_by_what_it_negotiates_and_not_by_an_old_option() -> None:
    configs = recorded("openvpn", "what cipher says counts for nothing where it is negotiated")
    found = {item.name: item for item in find(openvpn, guest(inside(openvpn=configs)))}
    assert found["/etc/openvpn/old.conf"].cipher == ""
    assert any(
        "AES-256-GCM comes first" in text for text in found["/etc/openvpn/old.conf"].evidence
    )
    assert found["/etc/openvpn/off.conf"].cipher == "AES-256-CBC"


def test_openvpn_in_freebsds_kernel() -> None:
    read = inside(
        system=FREEBSD,
        openvpn=(SERVER,),
        listeners=(),
        kernel_crypto=KernelCrypto(("if_ovpn",)),
    )
    (only,) = find(openvpn, guest(read))
    assert (only.consumer, only.version) == ("freebsd", "14.1-RELEASE")
    assert only.cipher == "AES-256-GCM"


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
