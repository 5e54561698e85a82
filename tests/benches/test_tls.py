"""What a TLS server does, asked by each of the three clients."""

from __future__ import annotations

import shutil
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from support import peers
from unmask.benches import _tls
from unmask.benches._effort import Effort
from unmask.benches._machine import Subject
from unmask.benches._tls import Endpoint
from unmask.errors import UsageError
from unmask.model.bench import Ended, Tool

SIZE = 400 * 1024


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(SIZE))
        self.end_headers()
        self.wfile.write(bytes(SIZE))

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Endpoint]:
    key, certificate = tmp_path / "key", tmp_path / "certificate"
    words = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    files = ["-keyout", str(key), "-out", str(certificate), "-subj", "/CN=localhost"]
    peers.run([peers.program("openssl"), *words, *files])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as http:
        http.daemon_threads = True
        http.handle_error = lambda *_: None  # type: ignore[method-assign]
        http.socket = context.wrap_socket(http.socket, server_side=True)
        thread = threading.Thread(target=http.serve_forever)
        thread.start()
        yield Endpoint("127.0.0.1", http.server_port, "/file")
        http.shutdown()
        thread.join()


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_tls, "SECONDS", dict.fromkeys(Effort, 1))


def without(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Let these programs not be there."""
    which = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: None if name in names else which(name))


def test_our_own_client_counts(server: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "ab", "openssl")
    result = _tls.measure(server, Subject("tls://x"), Effort.QUICK)
    requests, transfer = result.samples
    assert (requests.tool, requests.algorithm) == (Tool.TLS, "requests")
    assert requests.rate
    assert transfer.rate
    assert transfer.rate / requests.rate > SIZE
    assert result.way == "a client of unmask's own"


def test_openssl_counts(server: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "ab")
    monkeypatch.setattr(_tls, "SECONDS", dict.fromkeys(Effort, 5))  # it counts whole seconds
    result = _tls.measure(server, Subject("tls://x"), Effort.QUICK)
    assert result.way == "openssl on this machine"
    assert result.samples[0].algorithm == "requests"
    assert result.samples[0].rate, result.samples[0]


def test_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "ab", "openssl")
    (sample,) = _tls.measure(Endpoint("127.0.0.1", 1), Subject("tls://x"), Effort.QUICK).samples
    assert sample.ended is Ended.FAILED
    assert "no request was answered" in sample.note


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("web:443", Endpoint("web", 443)),
        ("web.example:8443/a?b=c", Endpoint("web.example", 8443, "/a?b=c")),
        ("https://[::1]:443/", Endpoint("[::1]", 443)),
    ],
)
def test_endpoints(written: str, found: Endpoint) -> None:
    assert _tls.parse(written) == found


@pytest.mark.parametrize(
    "written", ["web", "web:0", "web:70000", "web:443 x", "-x:443", ":443", "a b:1"]
)
def test_what_is_no_endpoint(written: str) -> None:
    with pytest.raises(UsageError, match="HOST:PORT"):
        _tls.parse(written)
