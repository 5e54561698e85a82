"""The HTTPS server: one thread per connection, Proxmox's status lines, and the faults.

Sources: PVE/APIServer/AnyEvent.pm and Formatter/Standard.pm: success keeps the connection, an error
closes it and has its first line as reason phrase; plain HTTP gets a 301.
"""

from __future__ import annotations

import contextlib
import json
import re
import socket
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from unmask.lab.answer import Json, Refused
from unmask.lab.api import Api, Asked
from unmask.lab.faults import Faults
from unmask.lab.wire import Reply, answered, page, refused

BODY_LIMIT = 512 * 1024
"""Bytes of a request (pve-http-server 5.2.1)."""
IDLE = 30.0
"""Seconds after which a silent connection is closed."""
TLS_HANDSHAKE = b"\x16"
PREFIX = re.compile(r"/api2/(?P<formatter>json|extjs)(?P<path>/.*)?")


@dataclass(frozen=True, slots=True)
class Seen:
    """One request that the server has answered."""

    method: str
    path: str
    """With its query."""
    route: str
    """The template of the route, "" where there is none."""
    status: int
    """0 where the connection was reset."""
    seconds: float
    """From the request's first line to the last byte of the answer, faults included."""
    own: float
    """Of these, what the API itself took: no faults, no pauses, no network."""


@dataclass(slots=True)
class Desk:
    """What the connections' threads share."""

    api: Api
    faults: Faults
    pace: float
    """Lab seconds per second that Proxmox would take."""
    seen: list[Seen] = field(default_factory=list)


class LabServer(ThreadingHTTPServer):
    """Listens, and gives each connection a thread of its own."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], context: ssl.SSLContext, desk: Desk) -> None:
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        super().__init__(address, Handler)
        self.context = context
        self.desk = desk
        self.connections: set[socket.socket] = set()

    def hang_up(self) -> None:
        """End every connection, so that nobody goes on talking to a lab that has ended."""
        for connection in list(self.connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that go away or do not speak TLS; other errors are bugs."""
        import sys  # noqa: PLC0415 - only here

        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
    """Answers the requests of one connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    timeout = IDLE
    own = 0.0
    server: LabServer

    def setup(self) -> None:
        """Shake hands here, where only this connection waits for it."""
        self.plain = False
        self.request.settimeout(IDLE)
        if self.request.recv(1, socket.MSG_PEEK) == TLS_HANDSHAKE:
            self.request = self.server.context.wrap_socket(self.request, server_side=True)
        else:
            self.plain = True
        super().setup()
        self.server.connections.add(self.connection)

    def finish(self) -> None:
        """Close the connection, however it ended."""
        self.server.connections.discard(self.connection)
        try:
            super().finish()
        finally:
            self.request.close()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing: `Desk.seen` has it, and command lines show secrets."""

    def version_string(self) -> str:
        """Return what the real server calls itself."""
        return "pve-api-daemon/3.0"

    def _serve(self) -> None:
        started, self.own = time.monotonic(), 0.0
        reply, route = self._reply()
        self._send(reply)
        took = time.monotonic() - started
        status = reply.status if reply.sent != "reset" else 0
        self.server.desk.seen.append(Seen(self.command, self.path, route, status, took, self.own))

    do_GET = do_POST = do_PUT = do_DELETE = _serve  # noqa: N815

    def _reply(self) -> tuple[Reply, str]:
        if self.plain:
            host = self.headers.get("Host", "localhost")
            there = f"https://{host}{self.path}"
            return Reply(301, "Moved Permanently", b"Moved Permanently", location=there), ""
        parts = urlsplit(self.path)
        match = PREFIX.fullmatch(parts.path)
        if match is None:
            return page(), ""
        path = unquote(match["path"] or "").rstrip("/")
        given = self._given(parts.query)  # always: the next request begins behind the body
        found = self.server.desk.api.find(self.command, path)
        route = found[0].template if found else ""
        faulty = self._fault(path)
        if faulty is not None:
            return faulty, route
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self._answer(Asked(self.command, path, given, headers), match["formatter"])
        if self.server.desk.faults.strikes("truncated", path):
            reply = reply.cut()
        drip = self.server.desk.faults.value("slow-drip", path)
        return (reply.dripping(drip) if drip else reply), route

    def _fault(self, path: str) -> Reply | None:
        """Return what a fault answers in place of the API, None where none does."""
        faults = self.server.desk.faults
        time.sleep(faults.value("latency", path))
        if faults.strikes("resets", path):
            return Reply(0, "", b"", sent="reset")
        if faults.strikes("5xx", path):
            return Reply(*faults.failure(), b"")
        if faults.strikes("html", path):
            return page(proxy=True)
        if faults.spent("401-mid-run", path):
            self.server.desk.api.sessions.revoked = True
        return None

    def _answer(self, asked: Asked, formatter: str) -> Reply:
        edition = self.server.desk.api.cluster.edition
        started, delay = time.monotonic(), 0.0
        try:
            reply = answered(self.server.desk.api.answer(asked), formatter)
        except Refused as said:
            delay = said.delay
            reply = refused(said, formatter, message=edition.message_in_body)
        self.own = time.monotonic() - started
        time.sleep(delay * self.server.desk.pace)
        return reply

    def _given(self, query: str) -> Mapping[str, Json]:
        given = _repeated(parse_qsl(query, keep_blank_values=True))
        written = self.headers.get("Content-Length", "")
        length = int(written) if written.isdecimal() else 0
        body = self.rfile.read(min(length, BODY_LIMIT))
        if length > BODY_LIMIT:
            self.close_connection = True
        if not body:
            return given
        if self.headers.get("Content-Type", "").startswith("application/json"):
            try:
                decoded = json.loads(body)
            except ValueError:
                decoded = {}
            return given | (decoded if isinstance(decoded, dict) else {})
        return given | _repeated(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True))

    def _send(self, reply: Reply) -> None:
        if reply.sent == "reset":
            self._reset()
            return
        self.send_response(reply.status, reply.reason)
        if reply.status != 200 or reply.sent == "cut":
            self.close_connection = True
        for name, value in reply.headers().items():
            self.send_header(name, value)
        self.send_header("Connection", "close" if self.close_connection else "Keep-Alive")
        self.end_headers()
        for piece in reply.pieces():
            self.wfile.write(piece)
            if reply.pause:
                self.wfile.flush()
                time.sleep(reply.pause)

    def _reset(self) -> None:
        """Break the connection off with a TCP reset."""
        self.close_connection = True
        linger = b"\x01\x00\x00\x00\x00\x00\x00\x00"
        self.request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.request.close()


def _repeated(pairs: list[tuple[str, str]]) -> dict[str, Json]:
    """Return parameters, those that come several times as a list."""
    found: dict[str, Json] = {}
    for name, value in pairs:
        if name not in found:
            found[name] = value
        elif isinstance(found[name], list):
            found[name].append(value)
        else:
            found[name] = [found[name], value]
    return found
