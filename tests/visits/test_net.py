"""Which ports of a guest are looked at, and what is made of their answers."""

from __future__ import annotations

import socket
import ssl
import threading

import pytest

from support import visited
from support.tls_server import HERE, Certificate, TalkingServer, then_tls
from unmask.connect import starttls
from unmask.model.inside_programs import Library, TlsProcess, TlsService
from unmask.model.inside_tunnels import Listener
from unmask.model.reading import Missing
from unmask.visits import _net
from unmask.visits._channel import NoWayError

SECONDS = 20.0
NGINX = TlsProcess("nginx", libraries=(Library.OPENSSL,))
SSHD = TlsProcess("sshd", libraries=(Library.OPENSSL,))
PLAIN = TlsProcess("redis-server")


EVERYBODY = "0.0.0.0"  # noqa: S104 - nobody binds to it


def tcp(port: int, address: str = EVERYBODY, program: str = "") -> Listener:
    return Listener("tcp", address, port, (program,) if program else ())


def ports(*listeners: Listener, **readings: object) -> tuple[int, ...]:
    found: dict[str, object] = {"tls_processes": (), "tls_services": (), **readings}
    return _net.ports(visited.guest(visited.inside(listeners=listeners, **found)))


def test_of_an_unknown_guest_a_short_list_is_asked() -> None:
    assert _net.ports(visited.guest()) == _net.WELL_KNOWN
    unread = visited.inside(listeners=Missing("neither ss nor netstat is there"))
    assert _net.ports(visited.guest(unread)) == _net.WELL_KNOWN
    assert len(_net.WELL_KNOWN) <= 16


def test_of_a_known_guest_only_what_listens_for_others_is_asked() -> None:
    assert ports() == ()
    assert ports(tcp(443), tcp(5432, "*"), tcp(993, "[::]")) == (443, 993, 5432)
    inner = (tcp(443, address) for address in ("127.0.0.1", "[::1]", "127.0.0.53%lo", "localhost"))
    assert ports(*inner) == ()
    assert ports(tcp(443, "127.0.0.1"), tcp(443, "10.0.0.7")) == (443,)
    assert ports(Listener("udp", EVERYBODY, 443)) == ()


def test_programs_with_a_library_and_configurations_make_a_port_likely() -> None:
    heard = (tcp(10443, program="nginx"), tcp(6379, program="redis-server"))
    assert ports(*heard, tls_processes=(NGINX, PLAIN)) == (10443,)
    service = TlsService("haproxy", ports=(7000, 7001))
    assert ports(tcp(7000), tcp(443), tls_services=(service,)) == (7000, 443)


def test_what_does_not_begin_with_tls_is_left_alone() -> None:
    heard = (tcp(22, program="sshd"), tcp(2222, program="sshd"), tcp(80, program="nginx"))
    assert ports(*heard, tcp(3306, program="mysqld"), tls_processes=(NGINX, SSHD)) == ()


def test_a_guest_that_listens_everywhere_has_sixteen_ports_asked() -> None:
    heard = [tcp(port, program="nginx") for port in range(10000, 12000)]
    found = ports(*heard, tcp(443), tls_processes=(NGINX,))
    assert len(found) == 16
    assert found[0] == 443


def test_each_answer_is_kept_and_what_is_no_tls_is_not(
    talking_server: TalkingServer, usual_certificate: Certificate
) -> None:
    def echo(connection: socket.socket) -> None:
        while data := connection.recv(4096):
            connection.sendall(data)

    with socket.create_server((HERE, 0)) as listener:
        closed = listener.getsockname()[1]
    asked = [
        talking_server(then_tls(usual_certificate)),
        talking_server(echo),
        closed,
        talking_server(then_tls(usual_certificate)),
    ]
    found = _net.endpoints((HERE,), asked, SECONDS)
    assert [item.port for item in found] == [asked[0], asked[3]]
    assert {item.protocol for item in found} == {"TLSv1.3"}


def test_the_next_address_is_tried_where_nothing_answers(
    talking_server: TalkingServer, usual_certificate: Certificate
) -> None:
    port = talking_server(then_tls(usual_certificate))
    (found,) = _net.endpoints(("guest.invalid", HERE, "203.0.113.1"), (port,), SECONDS)
    assert found.address == HERE
    with pytest.raises(NoWayError, match=r"no port answers at guest\.invalid") as caught:
        _net.endpoints(("guest.invalid",), (port,), SECONDS)
    assert caught.value.needs
    assert _net.endpoints((), (port,), SECONDS) == ()
    assert _net.endpoints((HERE,), (), SECONDS) == ()


def test_servers_are_told_the_guests_name_where_it_is_one_of_a_host(
    talking_server: TalkingServer, usual_certificate: Certificate
) -> None:
    told: list[str | None] = []

    def listen_to_names(context: ssl.SSLContext) -> None:
        def note(_: ssl.SSLObject, name: str | None, __: ssl.SSLContext) -> None:
            told.append(name)

        context.sni_callback = note

    port = talking_server(then_tls(usual_certificate, settings=listen_to_names))
    assert len(_net.endpoints((HERE,), (port,), SECONDS, ("web.example.org",))) == 1
    assert set(told) == {"web.example.org"}
    told.clear()
    assert len(_net.endpoints((HERE,), (port,), SECONDS, ("web1",))) == 1
    assert set(told) == {None}


def test_a_refusal_is_an_answer() -> None:
    with socket.create_server((HERE, 0)) as listener:
        closed = listener.getsockname()[1]
    assert _net.endpoints((HERE, "guest.invalid"), (closed,), SECONDS) == ()


def test_four_ports_are_looked_at_side_by_side(
    talking_server: TalkingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four servers wait for each other before they end; a fifth would never be let go."""
    lock, here, most = threading.Lock(), [0], [0]
    together = threading.Barrier(4)

    def count(connection: socket.socket) -> None:
        with lock:
            here[0] += 1
            most[0] = max(most[0], here[0])
        together.wait(SECONDS)
        with lock:
            here[0] -= 1
        connection.sendall(b"+no\r\n")

    asked = [talking_server(count) for _ in range(8)]
    for port in asked:
        monkeypatch.setitem(starttls.BY_PORT, port, ("pop3", starttls.pop3))
    assert _net.endpoints((HERE,), asked, SECONDS) == ()
    assert most == [4]
