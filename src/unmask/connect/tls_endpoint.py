"""Look at a TLS server from outside: what it agrees on, and whose order of ciphers decides.

It is an observation: no certificate is verified, nothing is sent beyond handshakes, and old
protocols and weak keys are let pass, since it is these that one wants to hear of.

The order of TLS 1.2 is found out by offering the same suites in different orders. Python cannot
choose the suites of TLS 1.3 (`SSLContext.set_ciphers` is for those before it); there OpenSSL offers
AES with 256 bits first, then ChaCha20, then AES with 128 bits, so that a server which takes another
than the first has an order of its own.
"""

from __future__ import annotations

import re
import ssl
import time
from collections.abc import Sequence
from dataclasses import dataclass

from unmask.connect import starttls
from unmask.connect.wire import Wire, connected
from unmask.errors import UnreadError
from unmask.model.tls_endpoint import TlsEndpoint

LIMIT = 256 * 1024
"""Bytes that one handshake may send; OpenSSL itself takes certificates of up to 100 KiB."""
SHARE = 0.5
"""Of the time, for the first handshake: a server that needs more gets no further questions."""

AES_256 = (
    "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:DHE-RSA-AES256-GCM-SHA384:"
    "AES256-GCM-SHA384"
)
AES_128 = (
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:DHE-RSA-AES128-GCM-SHA256:"
    "AES128-GCM-SHA256"
)
CHACHA = "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:DHE-RSA-CHACHA20-POLY1305"
GROUPS = {"AES256": AES_256, "AES128": AES_128, "CHACHA20": CHACHA}
"""Suites of TLS 1.2 by a word that stands in the names of all of a group."""
ORDERS = (("AES256", "AES128", "CHACHA20"), ("CHACHA20", "AES128", "AES256"))
"""In which they are offered: where the client's order decides, each gets another answer."""

HOST_NAME = re.compile(
    r"(?=.{4,253}\Z)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]",
    re.IGNORECASE,
)
"""A fully qualified one; an IP address is none, since its last label begins with a digit."""
MOST_NAMES = 2

EVERYTHING = "DEFAULT@SECLEVEL=0"
LEGACY_CONNECT = 0x4
"""SSL_OP_LEGACY_SERVER_CONNECT: talk to servers that know no secure renegotiation. Python has a
name for it from 3.12 on."""

REASONS = {
    "NO_SHARED_CIPHER": "it has no cipher in common with this client",
    "SSLV3_ALERT_HANDSHAKE_FAILURE": "it refuses all ciphers of this client, or lacks something",
    "UNSUPPORTED_PROTOCOL": "its version of TLS is one that this client no longer speaks",
    "TLSV1_ALERT_PROTOCOL_VERSION": "its versions of TLS are none that this client speaks",
    "DH_KEY_TOO_SMALL": "its key exchange is too weak for this client",
    "WRONG_VERSION_NUMBER": "it does not speak TLS",
    "HTTP_REQUEST": "it does not speak TLS",
    "TLSV1_UNRECOGNIZED_NAME": "it serves no client that does not name one of its hosts",
}
"""OpenSSL's reasons, and what they mean to somebody who looks from outside."""


RECORD_VERSIONS = {
    b"\x16\x03\x01": "TLSv1",
    b"\x16\x03\x02": "TLSv1.1",
    b"\x16\x03\x03": "TLSv1.2",
}
"""How a handshake's record begins (RFC 5246, section 6.2.1)."""


@dataclass(frozen=True, slots=True)
class Agreed:
    """What a server and this client agreed on."""

    protocol: str
    cipher: str

    @property
    def group(self) -> str:
        """Return the group of `GROUPS` that the cipher is of; "" for any other."""
        name = self.cipher.replace("_", "")
        return next((group for group in GROUPS if group in name), "")


def look(address: str, port: int, seconds: float, names: Sequence[str] = ()) -> TlsEndpoint:
    """Return what one port shows of its TLS, in at most five handshakes.

    Args:
        address: IP address or host name.
        port: TCP; on a well-known one TLS is asked for in its protocol first.
        seconds: That it may take.
        names: Host names that are named to the server (SNI), tried before none is; what cannot be
            one is left out.

    Raises:
        UnreachableError: Nothing answers at the address.
        UnreadError: It refuses, does not speak TLS, or takes too long.
    """
    begun = time.monotonic()
    server = _Server(address, port, begun + SHARE * seconds, begun + seconds)
    first, name = server.first(_names(address, names))
    answers = [server.agree(name, order) for order in ORDERS]
    prefers, follows = judge(first, _first_choice(), answers)
    if follows is None and answers[0] and answers[0] == answers[1]:
        others = [group for group in ORDERS[1] if group != answers[0].group]
        if server.agree(name, others):
            follows = False  # it had another one, which one of the two clients wanted more
    return TlsEndpoint(
        address=address,
        port=port,
        protocol=first.protocol,
        cipher=first.cipher,
        prefers_chacha=prefers,
        follows_client=follows,
        starttls=server.before,
    )


def _names(address: str, names: Sequence[str]) -> list[str]:
    """Return the names under which a server is asked; "" is none."""
    known = [name for name in (address, *names[:MOST_NAMES]) if HOST_NAME.fullmatch(name)]
    return [*dict.fromkeys(known), ""]


def judge(
    first: Agreed, choice: str, answers: Sequence[Agreed | None]
) -> tuple[bool | None, bool | None]:
    """Return whether ChaCha20 is preferred, and whether the client's order decides.

    Args:
        first: The answer to a client with its own order.
        choice: The suite of TLS 1.3 that this client wants most.
        answers: Those to `ORDERS`, by TLS 1.2; None where there was none.
    """
    aes_first, chacha_first = answers
    prefers: bool | None = None
    if first.protocol == "TLSv1.3":
        prefers = first.group == "CHACHA20" if "AES" in choice else None
        if first.cipher != choice:
            return prefers, False
    elif aes_first:
        prefers = aes_first.group == "CHACHA20"
    return prefers, True if _each_its_own(aes_first, chacha_first) else None


def _each_its_own(one: Agreed | None, other: Agreed | None) -> bool:
    """Return whether two clients were each given what it wants more than what the other got."""
    if not (one and other and one.group and other.group):
        return False
    first, second = ORDERS
    return first.index(one.group) < first.index(other.group) and second.index(
        other.group
    ) < second.index(one.group)


@dataclass(frozen=True, slots=True)
class _Server:
    address: str
    port: int
    first_end: float
    end: float

    @property
    def before(self) -> str:
        return starttls.BY_PORT[self.port][0] if self.port in starttls.BY_PORT else ""

    def first(self, names: Sequence[str]) -> tuple[Agreed, str]:
        """Return what is agreed on with a client that takes anything, and the name it was told."""
        refusal: UnreadError | None = None
        for name in names:
            try:
                return self._shake(_context(EVERYTHING), name, self.first_end), name
            except _RefusedError as error:
                refusal = error
        raise refusal or UnreadError("it was asked for by no name")

    def agree(self, name: str, order: Sequence[str]) -> Agreed | None:
        """Return what TLS 1.2 agrees on with suites in this order; None where nothing is."""
        suites = ":".join(GROUPS[group] for group in order)
        try:
            context = _context(f"{suites}@SECLEVEL=0", older=True)
            return self._shake(context, name, self.end)
        except (UnreadError, ssl.SSLError):
            return None  # it does not speak it, has none of them, or has had enough

    def _shake(self, context: ssl.SSLContext, name: str, end: float) -> Agreed:
        with connected(self.address, self.port, end, LIMIT) as wire:
            if self.port in starttls.BY_PORT:
                starttls.BY_PORT[self.port][1](wire)
            return _handshake(wire, context, name)


class _RefusedError(UnreadError):
    """The handshake failed, which another name might help."""


def _handshake(wire: Wire, context: ssl.SSLContext, name: str) -> Agreed:
    """Shake hands, or come as far as the server has chosen."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(incoming, outgoing, server_hostname=name or None)
    heard = b""
    while True:
        try:
            tls.do_handshake()
        except ssl.SSLWantReadError:
            wire.send(outgoing.read())
            data = wire.receive()
            heard = heard or data[:3]
            incoming.write(data)
            if not data:
                incoming.write_eof()
        except ssl.SSLError as error:
            return _chosen(tls, heard, error)
        else:
            wire.send(outgoing.read())
            return _chosen(tls, heard, None)


def _chosen(tls: ssl.SSLObject, heard: bytes, error: ssl.SSLError | None) -> Agreed:
    """Return what a server has chosen, even where it breaks off then for want of a certificate.

    Python tells the version of a finished handshake only; until then the version stands in the
    head of each record, unless it is 1.3, whose suites have names of their own.
    """
    cipher, version = tls.cipher(), tls.version()
    if cipher is None:
        raise _refusal(error) if error else UnreadError("it agrees on nothing")
    if version is None:
        modern = cipher[0].startswith("TLS_")
        version = "TLSv1.3" if modern else RECORD_VERSIONS.get(heard, "")
    return Agreed(version, cipher[0])


def _refusal(error: ssl.SSLError) -> _RefusedError:
    reason = error.reason or ""
    if isinstance(error, ssl.SSLEOFError):
        return _RefusedError("it closes the connection when TLS is to begin")
    known = REASONS.get(reason)
    words = reason.lower().replace("_", " ")
    return _RefusedError(known or f"no handshake: {words or 'the connection broke off'}")


def _first_choice() -> str:
    """Return the suite of TLS 1.3 that this machine's OpenSSL offers first."""
    offered = _context(EVERYTHING).get_ciphers()
    return next((item["name"] for item in offered if item["protocol"] == "TLSv1.3"), "")


def _context(ciphers: str, *, older: bool = False) -> ssl.SSLContext:
    """Return a client's settings that accept what no client should, to see it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
    if older:
        context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.options |= LEGACY_CONNECT
    context.set_ciphers(ciphers)
    return context
