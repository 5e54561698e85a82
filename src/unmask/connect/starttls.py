"""Servers that speak something else before TLS, and how they are asked to begin with it.

Nothing but the question for TLS is said: no login, no mail. What comes back is bounded by the wire.
MySQL is left alone: it counts each connection that breaks off before a login, and shuts a host out
after a hundred (max_connect_errors).
"""

from __future__ import annotations

from collections.abc import Callable

from unmask.connect.wire import Wire
from unmask.errors import UnreadError

LINE = 1024
"""Bytes of one line; RFC 5321 allows 512, extensions more."""
LINES = 50
"""Of one answer."""
NO_TLS = "it offers no TLS"
STRANGE = "it does not speak the protocol of its port"


def smtp(wire: Wire) -> None:
    """Ask for STARTTLS (RFC 3207)."""
    _smtp_answer(wire, "220")
    wire.send(b"EHLO unmask.invalid\r\n")
    offers = {line[4:].strip().upper() for line in _smtp_answer(wire, "250")}
    if "STARTTLS" not in offers:
        raise UnreadError(NO_TLS)
    wire.send(b"STARTTLS\r\n")
    _smtp_answer(wire, "220", NO_TLS)


def imap(wire: Wire) -> None:
    """Ask for STARTTLS (RFC 9051)."""
    _expect(_line(wire), "* OK")
    wire.send(b"u1 STARTTLS\r\n")
    for _ in range(LINES):
        line = _line(wire)
        if line.upper().startswith("U1 "):
            _expect(line.upper(), "U1 OK", NO_TLS)
            return
    raise UnreadError("it answers without end")


def pop3(wire: Wire) -> None:
    """Ask for STLS (RFC 2595)."""
    _expect(_line(wire), "+OK")
    wire.send(b"STLS\r\n")
    _expect(_line(wire), "+OK", NO_TLS)


def postgres(wire: Wire) -> None:
    """Send an SSLRequest, to which one letter is the answer (protocol 3.0)."""
    wire.send(bytes.fromhex("00000008 04d2162f"))
    answer = wire.receive(1)
    if answer == b"N":
        raise UnreadError(NO_TLS)
    if answer != b"S":
        raise UnreadError(STRANGE)


def ldap(wire: Wire) -> None:
    """Send the extended request StartTLS (RFC 4511, section 4.14)."""
    name = b"1.3.6.1.4.1.1466.20037"
    body = b"\x02\x01\x01" + b"\x77" + bytes([len(name) + 2]) + b"\x80" + bytes([len(name)]) + name
    wire.send(b"\x30" + bytes([len(body)]) + body)
    head = _exactly(wire, 2)
    if head[0] != 0x30 or not 10 <= head[1] < 0x80:
        raise UnreadError(STRANGE)
    answer = _exactly(wire, head[1])
    # messageID, then the extended response that begins with an enumerated result code
    if answer[:4] != b"\x02\x01\x01\x78" or answer[5:7] != b"\x0a\x01":
        raise UnreadError(STRANGE)
    if answer[7] != 0:
        raise UnreadError(NO_TLS)


BY_PORT: dict[int, tuple[str, Callable[[Wire], None]]] = {
    25: ("smtp", smtp),
    587: ("smtp", smtp),
    143: ("imap", imap),
    110: ("pop3", pop3),
    389: ("ldap", ldap),
    5432: ("postgres", postgres),
}
"""What a well-known port speaks before TLS, and how TLS is asked for there."""


def _smtp_answer(wire: Wire, code: str, otherwise: str = STRANGE) -> list[str]:
    lines = []
    for _ in range(LINES):
        line = _line(wire)
        lines.append(line)
        if not line[:3].isdigit() or line[3:4] != "-":
            _expect(line, code, otherwise)
            return lines
    raise UnreadError("it answers without end")


def _expect(line: str, start: str, otherwise: str = STRANGE) -> None:
    if not line.startswith(start):
        raise UnreadError(otherwise)


def _line(wire: Wire) -> str:
    """Return one line; the bytes come one by one, so that none of what follows is taken away."""
    line = bytearray()
    while len(line) < LINE:
        byte = wire.receive(1)
        if not byte:
            raise UnreadError("it closes the connection")
        if byte == b"\n":
            return line.decode("ascii", "replace").rstrip("\r")
        line += byte
    raise UnreadError(STRANGE)


def _exactly(wire: Wire, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        block = wire.receive(size - len(data))
        if not block:
            raise UnreadError("it closes the connection")
        data += block
    return bytes(data)
