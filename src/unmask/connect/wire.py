"""A TCP connection to a server that nobody trusts: bounded in bytes and in seconds as a whole."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address

from unmask.connect import threads
from unmask.errors import UnreadError

BLOCK = 16 * 1024
CONNECT_SECONDS = 4.0
"""That one address may take to accept."""
MOST_ADDRESSES = 4
"""Addresses of one host name that are tried."""


class UnreachableError(UnreadError):
    """Nothing answered at an address: neither an acceptance nor a refusal."""


class Wire:
    """An open connection."""

    def __init__(self, sock: socket.socket, end: float, limit: int) -> None:
        self._socket = sock
        self._end = end
        self._left = limit

    def receive(self, most: int = BLOCK) -> bytes:
        """Return some bytes, b"" at the end of the stream.

        Raises:
            UnreadError: The time is over, the limit is used up, or the connection was lost.
        """
        if self._left <= 0:
            raise UnreadError("it sends more than a server has to say")
        self._socket.settimeout(self._seconds())
        try:
            data = self._socket.recv(min(most, self._left))
        except TimeoutError as error:
            raise UnreadError("it is silent") from error
        except OSError as error:
            raise UnreadError(f"the connection was lost: {_words(error)}") from error
        self._left -= len(data)
        return data

    def send(self, data: bytes) -> None:
        """Send bytes; raises `UnreadError`."""
        self._socket.settimeout(self._seconds())
        try:
            self._socket.sendall(data)
        except TimeoutError as error:
            raise UnreadError("it takes nothing in") from error
        except OSError as error:
            raise UnreadError(f"the connection was lost: {_words(error)}") from error

    def _seconds(self) -> float:
        left = self._end - time.monotonic()
        if left <= 0:
            raise UnreadError("it does not answer in time")
        return left


@contextmanager
def connected(address: str, port: int, end: float, limit: int) -> Iterator[Wire]:
    """Connect to a server for as long as the context lasts.

    Args:
        address: IP address or host name.
        port: TCP.
        end: On the monotonic clock; nothing takes longer.
        limit: Bytes that are taken in.

    Raises:
        UnreachableError: Nothing answers there.
        UnreadError: It refuses.
    """
    with _connection(address, port, end) as sock:
        yield Wire(sock, end, limit)


def _connection(address: str, port: int, end: float) -> socket.socket:
    failure = UnreachableError("its name leads to no address")
    for found in _resolved(address, end)[:MOST_ADDRESSES]:
        left = min(CONNECT_SECONDS, end - time.monotonic())
        if left <= 0:
            raise UnreachableError("it does not answer in time")
        try:
            return socket.create_connection((found, port), timeout=left)
        except ConnectionRefusedError as error:
            raise UnreadError("nothing listens there") from error
        except TimeoutError:
            failure = UnreachableError("it does not answer in time")
        except OSError as error:
            failure = UnreachableError(f"it cannot be reached: {_words(error)}")
    raise failure


def _resolved(address: str, end: float) -> tuple[str, ...]:
    """Return the IP addresses of a host name; the resolver knows no deadline of its own."""
    try:
        return (str(ip_address(address)),)
    except ValueError:
        late = UnreachableError("its name was not resolved in time")
    seconds = max(0.0, end - time.monotonic())
    try:
        found = threads.within(seconds, lambda: socket.getaddrinfo(address, None), late)
    except (OSError, UnicodeError) as error:
        raise UnreachableError("its name leads to no address") from error
    return tuple(dict.fromkeys(str(item[4][0]) for item in found))


def _words(error: OSError) -> str:
    return (error.strerror or "it broke off").lower()
