"""The client against the lab, over real TLS: failover, tries, deadlines."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from support.lab_target import api, login
from unmask.connect.proxmox import TRIES
from unmask.connect.proxmox_answer import ApiError
from unmask.connect.proxmox_breaker import TRIPS
from unmask.lab.lab import Lab


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


def test_what_its_thread_is_allowed_is_what_is_told() -> None:
    with Lab(faults=["slow-drip=0.2"]) as bad:
        client = api(bad, seconds=60)
        with (
            client.clock.within(0.5),
            pytest.raises(ApiError, match=r"no whole answer within 0\.5 s"),
        ):
            client.get("cluster/resources", type="vm")


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


EXEC = "nodes/pve1/qemu/101/agent/exec"
UNAME = {"command": ["uname", "-r"]}


def test_a_list_is_sent_as_fields_of_one_name(lab: Lab) -> None:
    assert isinstance(api(lab, name="agent").post(EXEC, UNAME)["pid"], int)


def test_what_is_typed_arrives_byte_for_byte(lab: Lab) -> None:
    client = api(lab, name="agent")
    typed = bytes(range(1, 256))
    form = {"command": ["cat"], "input-data": typed.decode("latin-1")}
    pid = client.post(EXEC, form)["pid"]
    told = client.get_up_to(100_000, f"{EXEC}-status", pid=str(pid))
    assert told["out-data"].encode("latin-1") == typed


def test_a_password_may_start_something_too(lab: Lab) -> None:
    assert api(lab, name="root@pam").post(EXEC, UNAME)


def test_a_ticket_that_is_refused_is_replaced_before_something_is_started(lab: Lab) -> None:
    client = api(lab, name="root@pam")
    client.get("version")
    client._credentials._ticket = type(login(lab).secret)("PVE:root@pam:0::forged")
    before = lab.counts()["POST /access/ticket"]
    assert client.post(EXEC, UNAME)
    assert lab.counts()["POST /access/ticket"] == before + 1


@pytest.mark.parametrize("fault", ["5xx=1", "resets=1", "truncated=1", "html=1"])
def test_what_starts_something_is_sent_once(fault: str) -> None:
    with Lab(faults=[f"{fault}@/exec"]) as bad:
        client = api(bad, name="agent")
        with pytest.raises(ApiError):
            client.post(EXEC, UNAME)
        assert client.sent == 1


def test_an_answer_that_is_too_long_is_left(lab: Lab) -> None:
    client = api(lab)
    with pytest.raises(ApiError, match="answered with more than 0 MiB"):
        client.get_up_to(100, "cluster/resources")
    assert client.sent == 1


def test_what_a_guest_has_a_say_in_is_nothing_against_its_node() -> None:
    with Lab(faults=["5xx=1@/agent/"]) as bad:
        client = api(bad, name="agent", seconds=60)
        for _ in range(TRIPS + 1):
            with pytest.raises(ApiError, match="tries"):
                client.get_up_to(1000, "nodes/pve1/qemu/101/agent/get-osinfo")
        assert client.get("nodes/pve1/version", "pve1")
