"""Which of a guest's ports speak TLS, and all that was seen of each."""

from __future__ import annotations

from dataclasses import dataclass

from unmask.model.inside import Inside
from unmask.model.inside_programs import TlsService
from unmask.model.inventory import Guest
from unmask.model.tls_endpoint import TlsEndpoint
from unmask.workloads._asked import entered, said
from unmask.workloads._sockets import DATABASE_PORTS, DATABASES, TUNNELS, Socket, sockets

PORTS = frozenset(
    {
        443, 465, 563, 636, 853, 989, 990, 992, 993, 994, 995, 2376, 3269, 3389, 4433, 5061,
        5349, 5671, 5986, 6443, 6514, 6697, 8006, 8007, 8883, 10250,
    }
)  # fmt: skip
"""TCP ports of protocols inside TLS by IANA's register, RDP's, and those of Docker (2376),
Kubernetes (6443, 10250), WinRM (5986) and Proxmox's servers (8006, 8007)."""
MOST_PORTS = 100
"""Ports of one configured server that are looked at, however many it claims to have."""
STARTTLS = {
    "postfix": frozenset({25, 465, 587, 2525}),
    "dovecot": frozenset({110, 143, 993, 995, 4190}),
}
"""Ports that a mail server's configuration does not name where it turns TLS on."""
PROGRAMS = {
    "nginx": ("nginx", "openresty"),
    "apache": ("apache2", "httpd"),
    "haproxy": ("haproxy",),
    "postfix": ("master", "smtpd"),
    "dovecot": ("dovecot", "imap-login", "pop3-login"),
    "stunnel": ("stunnel", "stunnel4"),
    "lighttpd": ("lighttpd",),
}
"""What a server that was found by its configuration is called as a program."""


@dataclass(frozen=True, slots=True)
class TlsPort:
    """All that was seen of one TCP port."""

    port: int
    socket: Socket | None = None
    """None where the guest's sockets were not read, or nothing listens there."""
    service: TlsService | None = None
    endpoint: TlsEndpoint | None = None
    quic: bool = False
    """The same program also listens on this port of UDP."""

    @property
    def programs(self) -> tuple[str, ...]:
        """Return the names that the holder may have as a program."""
        if self.socket and self.socket.processes:
            return self.socket.processes
        return PROGRAMS.get(self.service.name, (self.service.name,)) if self.service else ()

    @property
    def name(self) -> str:
        """Return the program, else the configured server, else the port."""
        if self.service:
            return self.service.name
        if self.socket and self.socket.processes:
            return self.socket.processes[0]
        return f"port {self.port}"


def tls_ports(guest: Guest) -> tuple[TlsPort, ...]:
    """Return the ports that speak TLS or are likely to, in order."""
    inside = entered(guest)
    listening = sockets(inside, "tcp") if inside else {}
    beside = sockets(inside, "udp") if inside else {}
    endpoints: dict[int, TlsEndpoint] = {}
    for endpoint in guest.visit.endpoints:
        endpoints.setdefault(endpoint.port, endpoint)
    services = _services(said(inside.tls_services, ()), listening) if inside else {}
    likely = {port for port in listening if looks_tls(port)}
    found = (
        TlsPort(
            port,
            listening.get(port),
            services.get(port),
            endpoints.get(port),
            quic=_same_holder(listening.get(port), beside.get(port)),
        )
        for port in sorted(likely | endpoints.keys() | services.keys())
    )
    return tuple(item for item in found if not _another(item))


def _services(
    services: tuple[TlsService, ...], listening: dict[int, Socket]
) -> dict[int, TlsService]:
    """Return the configured servers by their ports, configured or held."""
    found: dict[int, TlsService] = {}
    for service in services:
        programs = set(PROGRAMS.get(service.name, (service.name,)))
        own = {port for port, socket in listening.items() if programs & set(socket.processes)}
        usual = STARTTLS.get(service.name, frozenset())
        likely = usual | {port for port in own if looks_tls(port)}
        for port in (*service.ports[:MOST_PORTS], *sorted(likely & own)):
            found.setdefault(port, service)
    return found


def _same_holder(one: Socket | None, other: Socket | None) -> bool:
    return bool(one and other and set(one.processes) & set(other.processes))


def looks_tls(port: int) -> bool:
    """Return whether a TCP port is one for TLS: a known one, or one like 8443 and 10443."""
    return port in PORTS or port % 1000 == 443


def _another(item: TlsPort) -> bool:
    """Return whether a port is another finder's: a database's, a VPN's."""
    holders = set(item.socket.processes) if item.socket else set()
    if holders and holders <= TUNNELS | DATABASES.keys():
        return True
    return not holders and item.port in DATABASE_PORTS


def undecided(inside: Inside, ports: tuple[TlsPort, ...]) -> bool:
    """Return whether somebody's library could be told if the processes had been read."""
    return not inside.tls_processes.known and any(
        not (item.socket and item.socket.processes) and not item.service for item in ports
    )


def connection(endpoint: TlsEndpoint) -> str:
    """Return the sentence about a connection from outside."""
    begun = f" after STARTTLS ({endpoint.starttls})" if endpoint.starttls else ""
    return (
        f"A connection to {endpoint.address} port {endpoint.port} agreed{begun} on "
        f"{endpoint.protocol} with {endpoint.cipher}."
    )
