"""Which certificates are trusted, and that nothing is sent to anybody else."""

from __future__ import annotations

import select
import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.lab_target import api
from unmask.connect import tls
from unmask.connect.proxmox_answer import ApiError
from unmask.connect.tls import UntrustedError
from unmask.errors import TargetError
from unmask.lab.lab import Lab
from unmask.model.access import Trust

OTHER = "00" * 32


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with Lab() as made:
        yield made


def test_the_authority_is_trusted(lab: Lab) -> None:
    assert api(lab).get("version")["release"] == "9.2"


@pytest.mark.parametrize("among", [(), (OTHER,)])
def test_a_pinned_certificate_is_trusted(lab: Lab, among: tuple[str, ...]) -> None:
    pin = lab.fingerprint.replace(":", "").lower()
    assert api(lab, by=Trust(fingerprints=(*among, pin))).get("version")


def test_a_pin_beside_an_authority_must_hold_too(lab: Lab) -> None:
    by = Trust(ca_file=str(lab.ca_file), fingerprints=(OTHER,))
    with pytest.raises(UntrustedError, match="is not the pinned one"):
        api(lab, by=by).get("version")


def test_an_unknown_authority_is_refused_with_the_fingerprint_and_how_to_pin_it(lab: Lab) -> None:
    asked = len(lab.seen)
    with pytest.raises(UntrustedError) as caught:
        api(lab, by=Trust()).get("version")
    text = str(caught.value)
    assert f"--fingerprint {lab.fingerprint}" in text
    assert "openssl x509" in text
    assert "--ca-file" in text
    assert len(lab.seen) == asked  # nothing was sent: no token to a stranger


def test_another_certificate_than_the_pinned_one_is_refused_before_anything_is_sent(
    lab: Lab,
) -> None:
    asked = len(lab.seen)
    with pytest.raises(UntrustedError, match="somebody else answers there") as caught:
        api(lab, by=Trust(fingerprints=(OTHER,))).get("version")
    assert lab.fingerprint in str(caught.value)
    assert len(lab.seen) == asked


def test_insecure_takes_any(lab: Lab) -> None:
    assert api(lab, by=Trust(insecure=True)).get("version")


def test_a_file_of_authorities_that_is_none_is_named(lab: Lab, tmp_path: Path) -> None:
    empty = tmp_path / "ca.pem"
    with pytest.raises(TargetError, match=r"ca\.pem: no file of authorities: No such file"):
        api(lab, by=Trust(ca_file=str(empty)))
    empty.write_text("x")
    with pytest.raises(TargetError, match="no certificate is in it"):
        api(lab, by=Trust(ca_file=str(empty)))


def test_fingerprints_are_spelt_in_pairs() -> None:
    assert tls.spelt("0aff") == "0A:FF"


def test_the_name_in_the_certificate_counts() -> None:
    with Lab(address="0.0.0.0") as everywhere:  # noqa: S104 - to answer at a name that it lacks
        other = api(everywhere, f"127.0.0.2:{everywhere.port}")
        with pytest.raises(UntrustedError, match=r"not valid for '127\.0\.0\.2'\. It shows"):
            other.get("version")
        assert everywhere.seen == ()


def test_a_certificate_that_is_not_trusted_is_no_reason_to_ask_another(lab: Lab) -> None:
    client = api(lab, lab.address, "127.0.0.1:1", by=Trust(fingerprints=(OTHER,)))
    with pytest.raises(UntrustedError):
        client.get("version")
    assert client.sent == 1


def test_a_proxy_of_the_environment_is_used(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:1")
    with pytest.raises(ApiError, match="cannot be reached"):
        api(lab, seconds=3).get("version")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert api(lab).get("version")


@contextmanager
def proxying() -> Iterator[tuple[str, list[str]]]:
    """Serve as a proxy that connects to wherever it is asked to."""
    asked: list[str] = []

    class Proxy(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            asked.append(self.rfile.readline().decode().split()[1])
            while self.rfile.readline().strip():
                pass
            host, _, port = asked[-1].rpartition(":")
            with socket.create_connection((host, int(port))) as there:
                self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
                ends = {self.connection: there, there: self.connection}
                while True:
                    for end in select.select(list(ends), [], [], 10)[0]:
                        data = end.recv(65536)
                        if not data:
                            return
                        ends[end].sendall(data)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Proxy) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
        server.shutdown()


def test_a_pin_holds_through_a_proxy(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    pin = lab.fingerprint.replace(":", "").lower()
    with proxying() as (proxy, asked):
        monkeypatch.setenv("https_proxy", proxy)
        good = api(lab, by=Trust(fingerprints=(pin,)))
        assert good.get("version")
        assert asked == [lab.address]
        seen = len(lab.seen)
        with pytest.raises(UntrustedError):
            api(lab, by=Trust(fingerprints=(OTHER,))).get("version")
        assert len(lab.seen) == seen
        good.close()
