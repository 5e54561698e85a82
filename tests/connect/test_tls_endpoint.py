"""Real TLS servers looked at from outside, and servers that are none or mean harm."""

from __future__ import annotations

import itertools
import socket
import ssl
import time
from pathlib import Path

import pytest

from support import peers
from support.tls_server import (
    HERE,
    Certificate,
    OpenSslServer,
    TalkingServer,
    certificate,
    then_tls,
)
from unmask.connect import tls_endpoint
from unmask.connect.tls_endpoint import Agreed, judge, look
from unmask.connect.wire import UnreachableError
from unmask.errors import UnreadError

SECONDS = 20.0
Orders = tuple[bool | None, bool | None]
"""Whether ChaCha20 is preferred, and whether the client's order decides."""
CHACHA_FIRST = (
    *("-serverpref", "-ciphersuites", "TLS_CHACHA20_POLY1305_SHA256:TLS_AES_256_GCM_SHA384"),
    *("-cipher", "ECDHE-RSA-CHACHA20-POLY1305:ECDHE-RSA-AES256-GCM-SHA384"),
)


@pytest.mark.parametrize(
    ("options", "protocol", "cipher", "orders"),
    [
        ((), "TLSv1.3", "TLS_AES_256_GCM_SHA384", (False, True)),
        (("-serverpref",), "TLSv1.3", "TLS_AES_256_GCM_SHA384", (False, False)),
        (("-tls1_3",), "TLSv1.3", "TLS_AES_256_GCM_SHA384", (False, None)),
        (CHACHA_FIRST, "TLSv1.3", "TLS_CHACHA20_POLY1305_SHA256", (True, False)),
        (("-tls1_2",), "TLSv1.2", "ECDHE-RSA-AES256-GCM-SHA384", (False, True)),
        (("-tls1_2", "-serverpref"), "TLSv1.2", "ECDHE-RSA-AES256-GCM-SHA384", (False, False)),
        (("-tls1_2", *CHACHA_FIRST), "TLSv1.2", "ECDHE-RSA-CHACHA20-POLY1305", (True, False)),
        (
            ("-tls1_3", "-serverpref", "-ciphersuites", "TLS_AES_128_GCM_SHA256"),
            *("TLSv1.3", "TLS_AES_128_GCM_SHA256", (False, False)),
        ),
    ],
)
def test_whose_order_decides(
    openssl_server: OpenSslServer,
    options: tuple[str, ...],
    protocol: str,
    cipher: str,
    orders: Orders,
) -> None:
    port = openssl_server(*options)
    seen = look(HERE, port, SECONDS)
    assert (seen.address, seen.port, seen.starttls) == (HERE, port, "")
    assert (seen.protocol, seen.cipher) == (protocol, cipher)
    assert (seen.prefers_chacha, seen.follows_client) == orders


def test_a_server_with_one_suite_tells_of_no_order(openssl_server: OpenSslServer) -> None:
    seen = look(HERE, openssl_server("-tls1_2", "-cipher", "ECDHE-RSA-AES256-GCM-SHA384"), SECONDS)
    assert (seen.prefers_chacha, seen.follows_client) == (False, None)
    seen = look(HERE, openssl_server("-tls1_2", "-cipher", "AES128-SHA"), SECONDS)
    assert (seen.cipher, seen.prefers_chacha, seen.follows_client) == ("AES128-SHA", None, None)


def test_without_chacha_the_two_kinds_of_aes_tell_of_the_order(
    openssl_server: OpenSslServer,
) -> None:
    suites = ("-cipher", "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-RSA-AES128-GCM-SHA256")
    assert look(HERE, openssl_server("-tls1_2", *suites), SECONDS).follows_client is True
    port = openssl_server("-tls1_2", "-serverpref", *suites)
    assert look(HERE, port, SECONDS).follows_client is False


@pytest.mark.parametrize("version", ["-tls1", "-tls1_1"])
def test_an_old_server_with_a_weak_key_is_seen_all_the_same(
    openssl_server: OpenSslServer, tmp_path: Path, version: str
) -> None:
    weak = certificate(tmp_path / "weak", bits=1024)
    port = openssl_server(version, "-cipher", "AES128-SHA:@SECLEVEL=0", shown=weak)
    seen = look(HERE, port, SECONDS)
    assert seen.protocol == {"-tls1": "TLSv1", "-tls1_1": "TLSv1.1"}[version]
    assert (seen.cipher, seen.follows_client) == ("AES128-SHA", None)


@pytest.mark.peer
def test_a_weak_key_exchange_is_seen_all_the_same(
    talking_server: TalkingServer, usual_certificate: Certificate, tmp_path: Path
) -> None:
    group = tmp_path / "group.pem"
    peers.run([peers.program("openssl"), "dhparam", "-dsaparam", "-out", str(group), "1024"])

    def weaken(context: ssl.SSLContext) -> None:
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        context.set_ciphers("DHE-RSA-AES256-GCM-SHA384:@SECLEVEL=0")
        context.load_dh_params(str(group))

    port = talking_server(then_tls(usual_certificate, settings=weaken))
    assert look(HERE, port, SECONDS).cipher == "DHE-RSA-AES256-GCM-SHA384"


def test_nobody_verifies_the_certificate(openssl_server: OpenSslServer, tmp_path: Path) -> None:
    expired = certificate(tmp_path / "expired", expired=True)
    assert look(HERE, openssl_server(shown=expired), SECONDS).protocol == "TLSv1.3"


@pytest.mark.parametrize("version", ["-tls1_2", "-tls1_3"])
def test_a_server_that_wants_a_certificate_of_ours_has_chosen_before(
    openssl_server: OpenSslServer, version: str
) -> None:
    seen = look(HERE, openssl_server(version, "-Verify", "1"), SECONDS)
    assert seen.protocol == {"-tls1_2": "TLSv1.2", "-tls1_3": "TLSv1.3"}[version]
    assert "AES" in seen.cipher


def test_a_server_is_told_its_name_and_asked_without_where_that_fails(
    openssl_server: OpenSslServer, usual_certificate: Certificate
) -> None:
    """It breaks a handshake off where it is told a name that it does not have."""
    strict = ("-servername", "guest.example", "-servername_fatal")
    second = ("-cert2", str(usual_certificate.certificate), "-key2", str(usual_certificate.key))
    port = openssl_server(*strict, *second)
    assert look(HERE, port, SECONDS, ("guest.example",)).protocol == "TLSv1.3"
    assert look(HERE, port, SECONDS, ("other.example",)).protocol == "TLSv1.3"
    assert look(HERE, port, SECONDS, ("no name", "web1", "a" * 300 + ".example")).port == port
    assert tls_endpoint._names("10.0.0.7", ("web1", "10.0.0.7")) == [""]
    assert tls_endpoint._names("www.example", ("web.example",)) == [
        "www.example",
        "web.example",
        "",
    ]


def test_a_server_with_nothing_in_common_says_so(openssl_server: OpenSslServer) -> None:
    port = openssl_server("-tls1_2", "-cipher", "AECDH-AES128-SHA:@SECLEVEL=0")
    with pytest.raises(UnreadError, match="refuses all ciphers"):
        look(HERE, port, SECONDS)


def echo(connection: socket.socket) -> None:
    while data := connection.recv(4096):
        connection.sendall(data)


def hang_up(connection: socket.socket) -> None:
    connection.recv(65536)  # all of it: what is left unread would reset the connection instead
    connection.shutdown(socket.SHUT_RDWR)


def web_page(connection: socket.socket) -> None:
    connection.recv(4096)
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")


def silence(connection: socket.socket) -> None:
    while connection.recv(4096):
        pass


def flood(connection: socket.socket) -> None:
    while True:
        connection.sendall(b"\0" * 65536)


def records_without_end(connection: socket.socket) -> None:
    """Send what may well be the beginning of a certificate, again and again."""
    hello = bytes.fromhex("16 0303 4000 0b ffffff") + b"\0" * (0x4000 - 4)
    while True:
        connection.sendall(hello)


def drip(connection: socket.socket) -> None:
    """Be never late by a timeout that begins anew with each byte."""
    for byte in itertools.chain(b"\x16\x03\x03\x40\x00\x02", itertools.repeat(0)):
        connection.sendall(bytes([byte]))
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("talk", "said"),
    [
        (echo, "no handshake|does not speak TLS"),
        (hang_up, "closes the connection"),
        (web_page, "does not speak TLS"),
        (flood, "no handshake|does not speak TLS|connection was lost"),
        (records_without_end, "no handshake|sends more than"),
    ],
)
def test_what_is_no_tls_says_so(talking_server: TalkingServer, talk: object, said: str) -> None:
    assert callable(talk)
    with pytest.raises(UnreadError, match=said) as caught:
        look(HERE, talking_server(talk), SECONDS)
    assert not isinstance(caught.value, UnreachableError)


@pytest.mark.parametrize("talk", [silence, drip])
def test_a_slow_server_is_given_up(talking_server: TalkingServer, talk: object) -> None:
    assert callable(talk)
    with pytest.raises(UnreadError, match=r"silent|in time") as caught:
        look(HERE, talking_server(talk), 0.6)
    assert not isinstance(caught.value, UnreachableError)


def test_a_closed_port_refuses_and_an_unused_address_is_unreachable() -> None:
    with socket.create_server((HERE, 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(UnreadError, match="nothing listens there") as caught:
        look(HERE, port, SECONDS)
    assert not isinstance(caught.value, UnreachableError)
    with pytest.raises(UnreachableError, match="its name leads to no address"):
        look("guest.invalid", 443, SECONDS)


def test_a_full_queue_is_unreachable() -> None:
    """Nobody accepts, and the queue is full: the first packet of a connection gets no answer."""
    with socket.socket() as listener:
        listener.bind((HERE, 0))
        listener.listen(0)
        port = listener.getsockname()[1]
        waiting = [socket.socket() for _ in range(4)]
        for sock in waiting:
            sock.settimeout(0)
            sock.connect_ex((HERE, port))
        try:
            with pytest.raises(UnreachableError, match="in time"):
                look(HERE, port, 0.5)
        finally:
            for sock in waiting:
                sock.close()


AES, LESS, CHACHA = (
    Agreed("TLSv1.2", f"ECDHE-RSA-{name}")
    for name in ("AES256-GCM-SHA384", "AES128-GCM-SHA256", "CHACHA20-POLY1305")
)
MODERN = Agreed("TLSv1.3", "TLS_AES_256_GCM_SHA384")


@pytest.mark.parametrize(
    ("first", "choice", "answers", "orders"),
    [
        (MODERN, "TLS_AES_256_GCM_SHA384", (AES, CHACHA), (False, True)),
        (MODERN, "TLS_AES_256_GCM_SHA384", (None, None), (False, None)),
        (MODERN, "TLS_CHACHA20_POLY1305_SHA256", (None, None), (None, False)),
        (AES, "TLS_AES_256_GCM_SHA384", (AES, None), (False, None)),
        (AES, "TLS_AES_256_GCM_SHA384", (None, CHACHA), (None, None)),
        (AES, "TLS_AES_256_GCM_SHA384", (CHACHA, AES), (True, None)),  # two servers behind one port
        (AES, "TLS_AES_256_GCM_SHA384", (LESS, CHACHA), (False, True)),
    ],
)
def test_what_the_answers_mean(
    first: Agreed,
    choice: str,
    answers: tuple[Agreed | None, Agreed | None],
    orders: Orders,
) -> None:
    assert judge(first, choice, answers) == orders
