"""What a server shows of itself, whatever it says."""

from __future__ import annotations

import socket
import ssl

import pytest

from support.tls_server import HERE, Certificate, TalkingServer
from unmask.connect import tls_look
from unmask.model.access import Trust


@pytest.mark.parametrize(
    ("date", "told"),
    [
        (b"Mon, 01 Jan 2024 00:00:00 GMT", True),
        (b"Mon, 01 Jan 2024 00:00:00 +" + b"9" * 30, False),
        (b"Mon, 01 Jan 99999 00:00:00 GMT", False),
        (b"Mon, 01 Jan 2024 00:00:00 -9999", False),
        (b"soon", False),
        (b"\xff\xfe", False),
    ],
)
def test_a_clock_that_tells_nonsense_is_none(
    usual_certificate: Certificate, talking_server: TalkingServer, date: bytes, *, told: bool
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(usual_certificate.certificate, usual_certificate.key)

    def talk(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as tls:
            tls.recv(1000)
            tls.sendall(b"HTTP/1.1 200 OK\r\nDate: " + date + b"\r\n\r\n")

    shown = tls_look.look(HERE, talking_server(talk), Trust(), 10)
    assert shown.certificate
    assert shown.refusal
    assert (shown.ahead is not None) is told
