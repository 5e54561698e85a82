"""The client against the lab, over real TLS: trust, failover, tries, deadlines."""

from __future__ import annotations

import select
import socket
import socketserver
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.lab_target import login, trust
from unmask.connect import proxmox_address, tls
from unmask.connect.deadline import Clock
from unmask.connect.proxmox import TRIES, TRIPS, Api
from unmask.connect.proxmox_answer import ApiError
from unmask.connect.tls import UntrustedError
from unmask.errors import TargetError
from unmask.lab.lab import Lab
from unmask.model.access import Trust

OTHER = "00" * 32


def api(
    lab: Lab, *entries: str, name: str = "audit", seconds: float = 20, by: Trust | None = None
) -> Api:
    """Return a client of `entries`, by default of the lab itself."""
    places = tuple(proxmox_address.entry(item) for item in entries or (lab.address,))
    return Api(places, login(lab, name), by or trust(lab), Clock(seconds), 4)


@contextmanager
def listening(behave: str) -> Iterator[str]:
    """Serve every connection badly: "silent", "close" or "plain"."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        held = []

        def run() -> None:
            while True:
                try:
                    sock, _ = server.accept()
                except OSError:
                    return
                if behave == "plain":
                    sock.recv(1)
                    sock.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                if behave == "silent":
                    held.append(sock)
                else:
                    sock.close()

        threading.Thread(target=run, daemon=True).start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        for sock in held:
            sock.close()


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


def test_the_name_in_the_certificate_counts(lab: Lab) -> None:
    other = api(lab, f"127.0.0.2:{lab.address.partition(':')[2]}")
    with pytest.raises((UntrustedError, ApiError), match=r"127\.0\.0\.2"):
        other.get("version")


def test_a_password_gets_a_ticket_once(lab: Lab) -> None:
    before = lab.counts()["POST /access/ticket"]
    client = api(lab, name="audit@pve")
    assert client.get("version")
    assert client.get("nodes")
    assert lab.counts()["POST /access/ticket"] == before + 1


def test_a_ticket_that_is_refused_in_mid_run_is_replaced(lab: Lab) -> None:
    client = api(lab, name="audit@pve")
    client.get("version")
    client._credentials._ticket = type(login(lab).secret)("PVE:audit@pve:0::forged")
    assert client.get("nodes")


def test_connections_are_kept(lab: Lab) -> None:
    client = api(lab)
    for _ in range(5):
        client.get("version")
    (pool,) = [client._pool.pools[key] for key in client._pool.pools.keys()]  # noqa: SIM118
    assert (pool.num_connections, pool.num_requests) == (1, 5)


def test_another_entry_takes_over_where_one_does_not_answer(lab: Lab) -> None:
    with listening("close") as bad:
        client = api(lab, "127.0.0.1:1", bad, lab.address)
        assert client.get("version")
        assert client.entry.place == lab.address
        sent = client.sent
        client.get("nodes")
        assert client.sent == sent + 1  # the good one is kept


def test_all_entries_that_do_not_answer_are_tried(lab: Lab) -> None:
    client = api(lab, "127.0.0.1:1", "127.0.0.1:2")
    with pytest.raises(ApiError) as caught:
        client.get("version")
    for place in ("127.0.0.1:1", "127.0.0.1:2"):
        assert f"{place} cannot be reached: Connection refused" in str(caught.value)
    assert client.sent == TRIES + 1


def test_a_certificate_that_is_not_trusted_is_no_reason_to_ask_another(lab: Lab) -> None:
    client = api(lab, lab.address, "127.0.0.1:1", by=Trust(fingerprints=(OTHER,)))
    with pytest.raises(UntrustedError):
        client.get("version")
    assert client.sent == 1


def test_what_is_no_tls_is_said(lab: Lab) -> None:
    with listening("plain") as place, pytest.raises(ApiError, match="does not speak TLS"):
        api(lab, place).get("version")


def test_a_silent_server_is_left_in_time(lab: Lab) -> None:
    with listening("silent") as place:
        began = time.monotonic()
        with pytest.raises(ApiError, match=r"cannot be reached|no whole answer|not read within"):
            api(lab, place, seconds=2).get("version")
        assert time.monotonic() - began < 3


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("5xx=1", r"50[23]|596"),
        ("resets=1", "closed the connection"),
        ("truncated=1", "before the end of its answer|breaks off"),
        ("html=1", "HTML page"),
    ],
)
def test_reads_are_tried_again_but_not_for_ever(fault: str, said: str) -> None:
    with Lab(faults=[fault]) as bad:
        client = api(bad)
        with pytest.raises(ApiError, match=said):
            client.get("version")
        assert client.sent == TRIES


@pytest.mark.parametrize("fault", ["5xx=2", "resets=2", "truncated=2", "html=2"])
def test_another_try_helps(fault: str) -> None:
    with Lab(faults=[fault]) as bad:
        client = api(bad)
        assert [client.get("version")["release"] for _ in range(4)] == ["9.2"] * 4
        assert client.sent > 4


def test_refusals_are_not_tried_again(lab: Lab) -> None:
    client = api(lab, name="partial")
    with pytest.raises(ApiError) as caught:
        client.get("nodes/pve2/status", "pve2")
    assert (caught.value.status, caught.value.needs) == (403, "Sys.Audit on /nodes/pve2")
    assert client.sent == 1


def test_a_route_that_is_not_there_is_501(lab: Lab) -> None:
    with pytest.raises(ApiError) as caught:
        api(lab).get("no/such/route")
    assert caught.value.status == 501


def test_a_drip_ends_with_the_deadline_of_its_request() -> None:
    with Lab(faults=["slow-drip=0.2"]) as bad:
        began = time.monotonic()
        with pytest.raises(ApiError, match="no whole answer within 1 s"):
            api(bad, seconds=4).get("cluster/resources", type="vm")
        assert 0.9 < time.monotonic() - began < 2


def test_a_node_that_fails_again_and_again_is_not_asked_any_more() -> None:
    with Lab(faults=["5xx=1@nodes/pve2/"]) as bad:
        client = api(bad)
        for _ in range(TRIPS):
            with pytest.raises(ApiError, match="3 tries"):
                client.get("nodes/pve2/version", "pve2")
        sent = client.sent
        with pytest.raises(ApiError, match="pve2 stopped answering"):
            client.get("nodes/pve2/version", "pve2")
        assert client.sent == sent
        assert client.get("nodes/pve1/version", "pve1")


def test_after_a_refused_login_nothing_is_sent_any_more(lab: Lab) -> None:
    client = api(lab, name="expired")
    for _ in range(2):
        with pytest.raises(ApiError, match="refuses the token audit@pve!expired"):
            client.get("version")
    assert client.sent == 2  # one was tried again, in case it was a hiccup


def test_a_closed_client_asks_nothing(lab: Lab) -> None:
    client = api(lab)
    client.close()
    with pytest.raises(ApiError, match="interrupted"):
        client.get("version")
    assert client.sent == 0


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
