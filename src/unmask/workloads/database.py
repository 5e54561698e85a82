"""Databases: TLS to their clients, and encryption of what they store.

At rest, MySQL and MariaDB encrypt with AES-CBC (MySQL's manual, "InnoDB Data-at-Rest Encryption";
MariaDB's file_key_management_encryption_algorithm), MongoDB Enterprise with AES-256-CBC (its
manual, `security.encryptionCipherMode`). MySQL makes itself a certificate and offers TLS since 5.7
unless it is told otherwise; the others have to be told.
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.model.finding import Confidence
from unmask.model.inside import Inside
from unmask.model.inside_programs import Database
from unmask.model.inventory import Guest
from unmask.model.tls_endpoint import TlsEndpoint
from unmask.model.workload import Activity, Finder, Workload, WorkloadKind
from unmask.workloads._asked import entered, owed, said, shortfalls
from unmask.workloads._library import Crypto, of_program, openssl
from unmask.workloads._sockets import DATABASE_PORTS, DATABASES, Socket, sockets
from unmask.workloads._tls_ports import connection

AT_REST = "AES-256-CBC"
_TLS_BY_DEFAULT = "mysql"


def find(guest: Guest) -> Iterator[Workload]:
    """Yield TLS and encryption at rest of each server, and databases seen from outside only."""
    inside = entered(guest)
    endpoints = {item.port: item for item in guest.visit.endpoints if item.port in DATABASE_PORTS}
    named = set()
    if inside:
        for server in said(inside.databases, ()):
            named.add(_plain(server.name))
            yield from _server(inside, server, endpoints)
    for port, endpoint in sorted(endpoints.items()):
        if DATABASE_PORTS[port] not in named:
            yield _from_outside(inside, DATABASE_PORTS[port], endpoint)
    if inside:
        owed(inside.databases)


def _plain(name: str) -> str:
    """Return the database by whose protocol another one is reached."""
    return "mysql" if name == "mariadb" else name


def _server(
    inside: Inside, server: Database, endpoints: dict[int, TlsEndpoint]
) -> Iterator[Workload]:
    programs = tuple(
        program for program, name in DATABASES.items() if _plain(name) == _plain(server.name)
    )
    found = _held(inside, programs, server)
    seen = [
        endpoint
        for port, endpoint in endpoints.items()
        if DATABASE_PORTS[port] == _plain(server.name)
    ]
    assumed = server.name == _TLS_BY_DEFAULT and server.tls is None
    if server.tls or seen or assumed:
        crypto = of_program(inside, *programs)
        yield _tls(inside, server, crypto, found, seen[0] if seen else None)
    if server.encrypted_at_rest:
        yield _at_rest(inside, server, found)


def _held(inside: Inside, programs: tuple[str, ...], server: Database) -> tuple[Socket, ...]:
    """Return the server's sockets; without names the usual port has to do."""
    ports = {port for port, name in DATABASE_PORTS.items() if name == _plain(server.name)}
    return tuple(
        socket
        for socket in sockets(inside, "tcp").values()
        if set(programs) & set(socket.processes) or (not socket.processes and socket.port in ports)
    )


def _tls(
    inside: Inside,
    server: Database,
    crypto: Crypto,
    found: tuple[Socket, ...],
    seen: TlsEndpoint | None,
) -> Workload:
    told = bool(server.tls) or seen is not None
    version = f" {server.version}" if server.version else ""
    says = [f"{server.name}{version} is set up to speak TLS." if server.tls else ""]
    if not told:
        says = [f"{server.name}{version} offers TLS unless it is told not to."]
    return Workload(
        kind=WorkloadKind.DATABASE,
        name=server.name,
        consumer=crypto.consumer,
        cipher=seen.cipher if seen else "",
        version=crypto.version,
        detail=", ".join(["TLS", crypto.label, *(f"port {socket.port}" for socket in found)]),
        # That a server listens says nothing of whether anybody speaks TLS to it.
        activity=Activity.ACTIVE if (found and told) or seen else Activity.CONFIGURED,
        evidence=(
            *(text for text in says if text),
            *(socket.sentence for socket in found),
            *([connection(seen)] if seen else []),
            *crypto.evidence,
            *shortfalls(inside, "databases"),
        ),
        confidence=Confidence.FIRM if told and crypto.seen else Confidence.TENTATIVE,
        ports=tuple(socket.port for socket in found),
    )


def _at_rest(inside: Inside, server: Database, found: tuple[Socket, ...]) -> Workload:
    crypto = openssl(inside)
    return Workload(
        kind=WorkloadKind.DATABASE,
        name=f"{server.name} at rest",
        consumer=crypto.consumer,
        cipher=AT_REST,
        version=crypto.version,
        detail=f"at rest, {crypto.label}",
        activity=Activity.ACTIVE if found else Activity.CONFIGURED,
        evidence=(
            f"The configuration of {server.name} turns encryption of its files on.",
            f"That it uses {AT_REST} is its default.",
            *crypto.evidence,
            *shortfalls(inside, "databases"),
        ),
        confidence=Confidence.FIRM,
    )


def _from_outside(inside: Inside | None, name: str, endpoint: TlsEndpoint) -> Workload:
    """Return a database that only its port tells."""
    programs = [program for program, database in DATABASES.items() if database == name]
    crypto = of_program(inside, *programs) if inside else Crypto()
    return Workload(
        kind=WorkloadKind.DATABASE,
        name=name,
        consumer=crypto.consumer,
        cipher=endpoint.cipher,
        version=crypto.version,
        detail=f"TLS, {crypto.label}, port {endpoint.port}",
        activity=Activity.ACTIVE,
        evidence=(
            connection(endpoint),
            f"That it is {name} is taken from the port.",
            *crypto.evidence,
        ),
        confidence=Confidence.TENTATIVE,
        ports=(endpoint.port,),
    )


WORKLOAD = Finder(WorkloadKind.DATABASE, find)
