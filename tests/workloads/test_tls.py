"""TLS servers: one workload a server, from all that was seen of its ports."""

from __future__ import annotations

import pytest

from support.visited import find, find_and_owe, guest, inside, parsed, recorded
from unmask.model.finding import Confidence
from unmask.model.inside import System
from unmask.model.inside_programs import Library, OpenSsl, TlsProcess, TlsService
from unmask.model.inside_tunnels import Listener
from unmask.model.reading import Missing
from unmask.model.tls_endpoint import TlsEndpoint
from unmask.model.workload import Activity
from unmask.workloads import tls

OPENSSL = OpenSsl("OpenSSL 3.0.20")
DENIED = Missing("only root may read it", "root in the guest")


def listener(port: int, *processes: str, pid: int = 7, address: str = "0.0.0.0") -> Listener:  # noqa: S104
    return Listener("tcp", address, port, processes, (pid,) if processes else ())


def process(
    name: str, *files: str, libraries: tuple[Library, ...] = (), pid: int = 7
) -> TlsProcess:
    chosen = libraries or (Library.OPENSSL,)
    return TlsProcess(name, f"/usr/bin/{name}", chosen, files, (pid,))


NGINX = process("nginx", "libcrypto.so.3", "libssl.so.3")


def test_a_recorded_guest_has_its_three_servers() -> None:
    seen = guest(
        inside(
            listeners=recorded("listeners", "ss as root, bookworm"),
            tls_processes=recorded("tls_processes", "libraries in maps, and Go"),
            tls_services=recorded("tls_services", "nginx of Debian"),
            openssl=recorded("openssl", "bookworm under qemu64"),
        )
    )
    found = {item.name: item for item in find(tls, seen)}
    assert {name: (item.consumer, item.ports) for name, item in found.items()} == {
        "nginx": ("openssl", (443,)),
        "haproxy": ("openssl", (8443,)),
        "caddy": ("go", (9443,)),
    }
    nginx, haproxy, caddy = found["nginx"], found["haproxy"], found["caddy"]
    assert (nginx.version, nginx.cipher) == ("3.0.20", "")
    assert nginx.detail == "OpenSSL 3.0.20, port 443"
    assert nginx.confidence is Confidence.CERTAIN
    assert "nginx has loaded libcrypto.so.3 and libssl.so.3." in nginx.evidence
    assert "The configuration of nginx turns TLS on for port 443." in nginx.evidence
    assert "The server's order of ciphers decides." in nginx.evidence
    assert haproxy.confidence is Confidence.FIRM
    assert "That port 8443 speaks TLS is taken from its number." in haproxy.evidence
    assert "It also listens on UDP port 9443 (QUIC)." in caddy.evidence
    assert all(item.activity is Activity.ACTIVE for item in found.values())


def test_nobody_looked() -> None:
    assert find(tls, guest()) == []


def test_without_root_a_port_has_no_library_and_that_is_owed() -> None:
    seen = guest(
        inside(
            listeners=recorded("listeners", "ss as nobody"),
            tls_processes=DENIED,
            tls_services=(),
            openssl=OPENSSL,
        )
    )
    found, owed = find_and_owe(tls, seen)
    assert {item.name: item.consumer for item in found} == {
        "port 443": "", "port 8443": "", "port 9443": "",
    }  # fmt: skip
    assert all(item.confidence is Confidence.TENTATIVE for item in found)
    assert owed == "only root may read it (root in the guest)"


def test_without_root_a_readable_configuration_names_the_server() -> None:
    seen = guest(
        inside(
            listeners=(listener(443),),
            tls_processes=DENIED,
            tls_services=recorded("tls_services", "nginx of Debian"),
            openssl=OPENSSL,
        )
    )
    (nginx,) = find(tls, seen)
    assert (nginx.name, nginx.consumer, nginx.version) == ("nginx", "openssl", "3.0.20")
    assert nginx.confidence is Confidence.TENTATIVE
    assert any("taken from its name" in text for text in nginx.evidence)


def test_ports_of_one_server_are_one_workload() -> None:
    seen = guest(
        inside(
            listeners=(listener(443, "nginx"), listener(8443, "nginx"), listener(80, "nginx")),
            tls_processes=(NGINX,),
            tls_services=(),
        )
    )
    (only,) = find(tls, seen)
    assert only.ports == (443, 8443)
    assert only.detail == "OpenSSL, ports 443 and 8443"


def test_all_that_tells_of_a_port_is_one_workload() -> None:
    endpoint = TlsEndpoint("192.0.2.7", 443, "TLSv1.3", "TLS_AES_256_GCM_SHA384")
    seen = guest(
        inside(
            listeners=(listener(443, "nginx"),),
            tls_processes=(NGINX,),
            tls_services=(TlsService("nginx", (443,)),),
            openssl=OPENSSL,
        ),
        (endpoint,),
    )
    (only,) = find(tls, seen)
    assert only.cipher == "TLS_AES_256_GCM_SHA384"
    assert only.confidence is Confidence.CERTAIN
    assert only.evidence[:3] == (
        "nginx listens on TCP port 443.",
        "The configuration of nginx turns TLS on for port 443.",
        "A connection to 192.0.2.7 port 443 agreed on TLSv1.3 with TLS_AES_256_GCM_SHA384.",
    )


def test_a_server_that_prefers_chacha_is_judged_by_it() -> None:
    endpoint = TlsEndpoint(
        "192.0.2.7", 443, "TLSv1.3", "TLS_AES_128_GCM_SHA256", prefers_chacha=True
    )
    read = inside(listeners=(listener(443, "nginx"),), tls_processes=(NGINX,), tls_services=())
    (only,) = find(tls, guest(read, (endpoint,)))
    assert only.cipher == tls.CHACHA
    assert "It takes ChaCha20 although the client offers AES first." in only.evidence


def test_seen_over_the_network_only() -> None:
    endpoint = TlsEndpoint("192.0.2.7", 443, "TLSv1.2", "ECDHE-RSA-AES128-GCM-SHA256",
                           follows_client=True)  # fmt: skip
    (only,) = find(tls, guest(None, (endpoint,)))
    assert (only.name, only.consumer, only.ports) == ("port 443", "", (443,))
    assert only.confidence is Confidence.TENTATIVE
    assert only.detail == "library not known, port 443"
    assert only.activity is Activity.ACTIVE
    assert any("192.0.2.7 port 443 agreed on TLSv1.2" in text for text in only.evidence)
    assert any("client's order" in text for text in only.evidence)


@pytest.mark.parametrize(
    ("read", "declared"),
    [(inside(system=System("Windows", kernel="10.0.20348")), ""), (None, "win11"), (None, "w2k19"),
     (None, "http://microsoft.com/win/2k22")],
)  # fmt: skip
def test_windows_is_schannel(read: object, declared: str) -> None:
    endpoint = TlsEndpoint("192.0.2.7", 3389, "TLSv1.2", "ECDHE-RSA-AES256-GCM-SHA384")
    (only,) = find(tls, guest(read, (endpoint,), os_declared=declared))  # type: ignore[arg-type]
    assert only.consumer == "windows"
    assert only.cipher == "ECDHE-RSA-AES256-GCM-SHA384"


def test_windows_without_a_probe_for_it_owes_nothing() -> None:
    assert find(tls, guest(inside(system=System("Windows", kernel="10.0.20348")))) == []


@pytest.mark.parametrize("name", ["openvpn", "sshd", "smbd", "charon-systemd", "postgres"])
def test_what_speaks_another_protocol_is_no_tls_server(name: str) -> None:
    read = inside(
        listeners=(listener(443, name),),
        tls_processes=(process(name, "libcrypto.so.3", "libssl.so.3"),),
        tls_services=(),
    )
    assert find(tls, guest(read)) == []


def test_mail_servers_do_tls_on_ports_that_their_configuration_does_not_name() -> None:
    services = parsed(
        "tls_services",
        **{
            "/etc/postfix/main.cf": "smtpd_tls_security_level = may\n",
            "/etc/dovecot/conf.d/10-ssl.conf": "ssl = required\n",
        },
    )
    read = inside(
        listeners=(
            listener(25, "master"), listener(143, "dovecot"), listener(993, "dovecot"),
            listener(4000, "dovecot"),
        ),
        tls_processes=(),
        tls_services=services,
    )  # fmt: skip
    assert {item.name: item.ports for item in find(tls, guest(read))} == {
        "postfix": (25,),
        "dovecot": (143, 993),
    }


@pytest.mark.parametrize(
    ("ciphers", "cipher"),
    [
        (("HIGH:!aNULL",), ""),
        (("TLS_CHACHA20_POLY1305_SHA256:TLS_AES_256_GCM_SHA384",), "TLS_CHACHA20_POLY1305_SHA256"),
        (("ECDHE-RSA-AES128-GCM-SHA256:ECDHE-RSA-CHACHA20-POLY1305",), ""),
        (("ECDHE-RSA-CHACHA20-POLY1305",), "ECDHE-RSA-CHACHA20-POLY1305"),
        (("!AESGCM:HIGH",), ""),
        ((":,",), ""),
    ],
)
def test_what_a_configured_list_of_ciphers_settles(ciphers: tuple[str, ...], cipher: str) -> None:
    read = inside(
        listeners=(listener(443, "nginx"),),
        tls_processes=(NGINX,),
        tls_services=(TlsService("nginx", (443,), ciphers),),
    )
    (only,) = find(tls, guest(read))
    assert only.cipher == cipher


def test_configured_and_not_listening() -> None:
    read = inside(listeners=(), tls_processes=(), tls_services=(TlsService("nginx", (443,)),))
    (only,) = find(tls, guest(read))
    assert (only.activity, only.consumer) == (Activity.CONFIGURED, "openssl")


def test_sockets_that_could_not_be_read_are_owed() -> None:
    missing = Missing("neither ss, netstat nor sockstat is installed in the guest")
    read = inside(listeners=missing, tls_processes=(), tls_services=(TlsService("nginx", (443,)),))
    found, owed = find_and_owe(tls, guest(read))
    assert [item.name for item in found] == ["nginx"]
    assert owed.startswith("neither ss")


def test_a_database_seen_from_outside_is_not_a_tls_server() -> None:
    endpoint = TlsEndpoint(
        "192.0.2.7", 5432, "TLSv1.3", "TLS_AES_256_GCM_SHA384", starttls="postgres"
    )
    assert find(tls, guest(None, (endpoint,))) == []


def test_a_port_for_itself_only_says_so() -> None:
    read = inside(
        listeners=(listener(8443, "nginx", address="127.0.0.1"),),
        tls_processes=(NGINX,),
        tls_services=(),
    )
    (only,) = find(tls, guest(read))
    assert only.evidence[0] == "nginx listens on TCP port 8443 of 127.0.0.1 only."
