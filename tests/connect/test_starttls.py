"""Protocols that go over to TLS: each asked in its own words, by servers good and bad."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable

import pytest

from support.tls_server import HERE, Certificate, Talk, TalkingServer, then_tls
from unmask.connect import starttls
from unmask.connect.tls_endpoint import look
from unmask.connect.wire import Wire, connected
from unmask.errors import UnreadError

SECONDS = 20.0
LDAP_YES = bytes.fromhex("30 0c 020101 78 07 0a0100 0400 0400")
LDAP_NO = bytes.fromhex("30 0c 020101 78 07 0a0102 0400 0400")


def exchange(*turns: tuple[bytes, bytes]) -> Talk:
    """Return a talk that says the second of each pair once it has heard the first."""

    def talk(connection: socket.socket) -> None:
        for heard, said in turns:
            got = b""
            while len(got) < len(heard):
                got += connection.recv(len(heard) - len(got))
            assert got == heard
            connection.sendall(said)

    return talk


GREETING = (b"", b"220-mail.example ESMTP\r\n220 at your service\r\n")
EHLO = (b"EHLO unmask.invalid\r\n", b"250-mail.example\r\n250-SIZE 1000\r\n250 STARTTLS\r\n")

GOOD = {
    "smtp": exchange(GREETING, EHLO, (b"STARTTLS\r\n", b"220 go ahead\r\n")),
    "imap": exchange(
        (b"", b"* OK [CAPABILITY IMAP4rev1] ready\r\n"),
        (b"u1 STARTTLS\r\n", b"* CAPABILITY IMAP4rev1\r\nu1 OK begin\r\n"),
    ),
    "pop3": exchange((b"", b"+OK ready\r\n"), (b"STLS\r\n", b"+OK begin\r\n")),
    "postgres": exchange((bytes.fromhex("0000000804d2162f"), b"S")),
    "ldap": exchange(
        (
            b"\x30\x1d\x02\x01\x01\x77\x18\x80\x16" + b"1.3.6.1.4.1.1466.20037",
            LDAP_YES,
        )
    ),
}

SMTP, IMAP, POP3 = starttls.smtp, starttls.imap, starttls.pop3
BAD: list[tuple[Callable[[Wire], None], Talk, str]] = [
    (SMTP, exchange(GREETING, (EHLO[0], b"250 mail.example\r\n")), "offers no TLS"),
    (SMTP, exchange(GREETING, EHLO, (b"STARTTLS\r\n", b"454 not now\r\n")), "offers no TLS"),
    (SMTP, exchange((b"", b"554 go away\r\n")), "does not speak the protocol"),
    (SMTP, exchange((b"", b"SSH-2.0-OpenSSH_9.2\r\n")), "does not speak the protocol"),
    (SMTP, exchange((b"", b"220-more\r\n" * 1000)), "answers without end"),
    (SMTP, exchange((b"", b"2" * 100_000)), "does not speak the protocol"),
    (IMAP, exchange((b"", b"* OK\r\n"), (b"u1 STARTTLS\r\n", b"u1 NO\r\n")), "offers no TLS"),
    (IMAP, exchange((b"", b"* OK\r\n"), (b"u1 STARTTLS\r\n", b"* 1\r\n" * 99)), "without end"),
    (IMAP, exchange((b"", b"* BYE\r\n")), "does not speak the protocol"),
    (POP3, exchange((b"", b"+OK\r\n"), (b"STLS\r\n", b"-ERR what?\r\n")), "offers no TLS"),
    (starttls.postgres, exchange((b"\0" * 3 + b"\x08\x04\xd2\x16\x2f", b"N")), "offers no TLS"),
    (starttls.postgres, exchange((b"", b"HTTP/1.1")), "does not speak the protocol"),
    (starttls.ldap, exchange((b"", LDAP_NO)), "offers no TLS"),
    (starttls.ldap, exchange((b"", LDAP_YES[:2] + b"\x02\x01\x07" + LDAP_YES[5:])), "not speak"),
    (starttls.ldap, exchange((b"", b"\x30\x84" + b"\xff" * 99)), "does not speak the protocol"),
    (starttls.ldap, exchange((b"", b"\x30\x02\x01\x01")), "does not speak the protocol"),
]


@pytest.mark.parametrize("protocol", sorted(GOOD))
def test_tls_is_seen_behind_each_protocol(
    talking_server: TalkingServer,
    usual_certificate: Certificate,
    protocol: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    port = talking_server(then_tls(usual_certificate, GOOD[protocol]))
    monkeypatch.setitem(starttls.BY_PORT, port, (protocol, getattr(starttls, protocol)))
    seen = look(HERE, port, SECONDS)
    assert (seen.protocol, seen.starttls, seen.port) == ("TLSv1.3", protocol, port)
    assert seen.prefers_chacha is False


@pytest.mark.parametrize(("ask", "talk", "said"), BAD)
def test_a_server_without_tls_says_so(
    talking_server: TalkingServer, ask: Callable[[Wire], None], talk: Talk, said: str
) -> None:
    port = talking_server(talk)
    with (
        connected(HERE, port, time.monotonic() + SECONDS, 256 * 1024) as wire,
        pytest.raises(UnreadError, match=said),
    ):
        ask(wire)


@pytest.mark.parametrize("protocol", sorted(GOOD))
def test_a_server_that_closes_is_given_up(talking_server: TalkingServer, protocol: str) -> None:
    port = talking_server(lambda connection: connection.shutdown(socket.SHUT_RDWR))
    with (
        connected(HERE, port, time.monotonic() + SECONDS, 256 * 1024) as wire,
        pytest.raises(UnreadError, match=r"closes|was lost|not speak the protocol"),
    ):
        getattr(starttls, protocol)(wire)


def test_what_is_sent_beyond_the_limit_is_not_read(talking_server: TalkingServer) -> None:
    port = talking_server(exchange((b"", b"220-" + b"\r\n220-" * 1000)))
    with connected(HERE, port, time.monotonic() + SECONDS, 100) as wire:
        with pytest.raises(UnreadError, match="more than a server has to say"):
            starttls.smtp(wire)
        with pytest.raises(UnreadError, match="more than a server has to say"):
            wire.receive()


def test_every_well_known_port_has_its_protocol() -> None:
    for name, ask in starttls.BY_PORT.values():
        assert ask is getattr(starttls, name)
        assert name in GOOD
