"""The proxy that the environment names, and what is no proxy."""

from __future__ import annotations

import socket
import socketserver
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from support.lab_target import api
from unmask.connect import proxy
from unmask.connect.proxmox_answer import ApiError
from unmask.connect.proxy import Proxy
from unmask.errors import TargetError
from unmask.lab.lab import Lab
from unmask.sources import _pve_api_reading


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with Lab() as made:
        yield made


@contextmanager
def proxying(behave: Callable[[socket.socket, bytes], None]) -> Iterator[str]:
    """Serve as a proxy that does with a connection, and the request on it, what it is told to."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            behave(self.request, self.request.recv(4096))

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@pytest.mark.parametrize(
    ("written", "url"),
    [
        ("", ""),
        ("proxy.example:3128", "http://proxy.example:3128"),
        ("http://proxy.example", "http://proxy.example:80"),
        ("https://proxy.example/", "https://proxy.example:443"),
        ("http://[fd00::1]:3128", "http://[fd00::1]:3128"),
        ("http://user:secret@proxy.example:3128", "http://proxy.example:3128"),
    ],
)
def test_the_ways_to_write_it(monkeypatch: pytest.MonkeyPatch, written: str, url: str) -> None:
    monkeypatch.setenv("https_proxy", written)
    found = proxy.towards("pve1")
    assert found.url == url
    assert bool(found) is bool(url)
    assert "secret" not in repr(found)


@pytest.mark.parametrize("host", ["pve1.example", "[fd00::1]"])
def test_hosts_that_need_none(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    monkeypatch.setenv("https_proxy", "proxy:3128")
    monkeypatch.setenv("no_proxy", "example,fd00::1")
    assert proxy.towards(host) == Proxy()


@pytest.mark.parametrize(
    "written",
    ["socks5://hush@proxy:1080", "ftp://hush@proxy", "http://hush@[::1", "http://hush@proxy:x",
     "http://hush@", "http://hush@pr oxy:1", "http://hush@proxy\x1b[m:1"],
)  # fmt: skip
def test_what_is_none_is_one_clear_error_that_does_not_repeat_it(
    monkeypatch: pytest.MonkeyPatch, written: str
) -> None:
    monkeypatch.setenv("https_proxy", written)
    with pytest.raises(TargetError, match=r"https_proxy .*no_proxy") as caught:
        proxy.towards("pve1")
    assert "hush" not in str(caught.value)


def test_user_and_password_are_for_the_proxy(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bytes] = []

    def refuse(sock: socket.socket, request: bytes) -> None:
        asked.append(request)
        sock.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")

    with proxying(refuse) as place:
        monkeypatch.setenv("https_proxy", f"http://me:p%40ss@{place}")
        said = rf"the proxy {place} does not let one through: 407 Proxy Authentication Required \("
        with pytest.raises(ApiError, match=said):
            api(lab, seconds=5).get("version")
    assert b"proxy-authorization: basic bwu6cebzcw==" in asked[0].lower()


def test_one_that_cannot_be_reached_is_named(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "127.0.0.1:1")
    with pytest.raises(ApiError, match=r"the proxy 127\.0\.0\.1:1 cannot be reached"):
        api(lab, seconds=3).get("version")


def test_one_that_drips_is_left_in_time(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def drip(sock: socket.socket, request: bytes) -> None:
        del request
        sock.sendall(b"HTTP/1.1 200 OK\r\nX: ")
        for _ in range(100):
            sock.sendall(b"y")
            time.sleep(0.1)

    with proxying(drip) as place:
        monkeypatch.setenv("https_proxy", place)
        began = time.monotonic()
        with pytest.raises(ApiError, match="did not answer in the time allowed"):
            _pve_api_reading.read(api(lab, seconds=2), 2, lambda _: None)
        assert time.monotonic() - began < 4
