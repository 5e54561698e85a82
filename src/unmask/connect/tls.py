"""TLS to servers that mostly have certificates of their own making.

A certificate is trusted because an authority vouches for it, or because it is the very one whose
SHA-256 the operator has given (a pin). The connection is refused before anything is sent.
"""

from __future__ import annotations

import hashlib
import socket
import ssl
import time
from typing import TYPE_CHECKING, Any

from urllib3.connection import HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.poolmanager import PoolManager, ProxyManager
from urllib3.response import HTTPResponse

from unmask.connect.deadline import Clock
from unmask.connect.proxy import Proxy
from unmask.errors import TargetError
from unmask.model.access import Trust

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


SLACK = 0.2
"""Seconds that a read may be late."""

FRESH = 1.0
"""Seconds after an answer in which a connection is taken to be open without a look."""


class UntrustedError(TargetError):
    """The server's certificate is not one that is trusted."""


class WatchedSocket(ssl.SSLSocket):
    """A socket that never waits longer than its clock allows."""

    def settimeout(self, value: float | None) -> None:
        """Set the timeout; where it is the same already, save the system call.

        Each one lets go of Python's global lock, and waits for it when many threads are at work.
        """
        if value != self.gettimeout():
            super().settimeout(value)

    def recv_into(self, buffer: WriteableBuffer, nbytes: int | None = None, flags: int = 0) -> int:
        """Read; raises `LateError` where no time is left."""
        clock: Clock | None = getattr(self.context, "clock", None)
        if clock is not None:
            left = clock.left()
            timeout = self.gettimeout()
            if timeout is None or timeout > left + SLACK:
                self.settimeout(left)
        return super().recv_into(buffer, nbytes, flags)


class WatchedContext(ssl.SSLContext):
    """What all connections of one client share."""

    sslsocket_class = WatchedSocket
    clock: Clock | None = None
    pins: frozenset[str] = frozenset()


class PinnedConnection(HTTPSConnection):
    """A connection that looks at the certificate's fingerprint before anything is sent."""

    answered = 0.0
    """When the last answer came, on the monotonic clock."""

    @property
    def is_connected(self) -> bool:
        """Return whether it can be used again."""
        if self.sock is not None and time.monotonic() - self.answered < FRESH:
            return True
        return super().is_connected

    def getresponse(self) -> HTTPResponse:  # type: ignore[override]
        """Return the answer."""
        response = super().getresponse()
        self.answered = time.monotonic()
        return response

    def connect(self) -> None:
        """Connect; raises `UntrustedError` where the certificate is none of those pinned."""
        super().connect()
        # What is not verified here was said by the operator: urllib3 need not warn of it again.
        self.is_verified = True
        pins: frozenset[str] = getattr(self.ssl_context, "pins", frozenset())
        if not pins:
            return
        sock: Any = self.sock
        seen = hashlib.sha256(sock.getpeercert(binary_form=True) or b"").hexdigest()
        if seen not in pins:
            self.close()
            raise UntrustedError(_other(f"{self.host}:{self.port}", seen))


class PinnedPool(HTTPSConnectionPool):
    """A pool of such connections."""

    ConnectionCls = PinnedConnection


def context(trust: Trust, clock: Clock) -> WatchedContext:
    """Return the TLS settings for `trust`.

    Raises:
        TargetError: The file of authorities cannot be read.
    """
    made = WatchedContext(ssl.PROTOCOL_TLS_CLIENT)
    made.clock = clock
    made.pins = frozenset(trust.fingerprints)
    if trust.insecure or (made.pins and not trust.ca_file):
        made.check_hostname = False
        made.verify_mode = ssl.CERT_NONE
        return made
    try:
        if trust.ca_file:
            made.load_verify_locations(cafile=trust.ca_file)
        else:
            made.load_default_certs()
    except OSError as error:
        reason = "no certificate is in it" if isinstance(error, ssl.SSLError) else error.strerror
        raise TargetError(f"{trust.ca_file}: no file of authorities: {reason}") from None
    return made


def pool(settings: WatchedContext, connections: int, proxy: Proxy) -> PoolManager:
    """Return a pool that keeps so many connections to each server open."""
    options: dict[str, Any] = {
        "ssl_context": settings,
        "maxsize": connections,
        "num_pools": 16,
        "retries": False,
    }
    if proxy:
        options["proxy_headers"] = proxy.headers
    made = ProxyManager(proxy.url, **options) if proxy else PoolManager(**options)
    made.pool_classes_by_scheme = {"http": HTTPConnectionPool, "https": PinnedPool}
    return made


def spelt(fingerprint: str) -> str:
    """Return 64 hexadecimal digits as Proxmox and openssl print them: pairs with colons."""
    text = fingerprint.upper()
    return ":".join(text[place : place + 2] for place in range(0, len(text), 2))


def refused(host: str, port: int, reason: str) -> UntrustedError:
    """Return the error for a certificate that no authority vouches for, with what was seen."""
    place, reason = f"{host}:{port}", reason.rstrip(".")
    seen = _shown(host.strip("[]"), port)
    if not seen:
        return UntrustedError(f"{place}: its certificate is not trusted: {reason}")
    return UntrustedError(
        f"{place}: its certificate is not trusted: {reason}. It shows the SHA-256 fingerprint"
        f" {spelt(seen)}; {_compare()} and pin it with --fingerprint {spelt(seen)}, or trust the"
        " cluster's own authority with --ca-file (a copy of /etc/pve/pve-root-ca.pem)"
    )


def _other(place: str, seen: str) -> str:
    return (
        f"{place}: its certificate is not the pinned one: it shows the SHA-256 fingerprint"
        f" {spelt(seen)}. Either it was renewed ({_compare()} and pin the new one with"
        f" --fingerprint {spelt(seen)}), or somebody else answers there"
    )


def _compare() -> str:
    return (
        "compare that on the node with `openssl x509 -noout -fingerprint -sha256 -in"
        " /etc/pve/local/pve-ssl.pem` (or pveproxy-ssl.pem where there is one)"
    )


def _shown(host: str, port: int) -> str:
    """Return the fingerprint of the certificate that a server shows, "" where it shows none."""
    looking = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    looking.check_hostname = False
    looking.verify_mode = ssl.CERT_NONE
    try:
        with (
            socket.create_connection((host, port), timeout=5) as plain,
            looking.wrap_socket(plain, server_hostname=host) as sock,
        ):
            return hashlib.sha256(sock.getpeercert(binary_form=True) or b"").hexdigest()
    except OSError:
        return ""
