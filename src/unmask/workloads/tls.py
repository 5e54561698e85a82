"""Servers that speak TLS: which library encrypts, on which ports, with which cipher.

What the sockets, the processes, the configurations and the connections from outside say of one port
becomes one workload, and ports of one server that fare alike become one as well.

In TLS 1.3 OpenSSL, rustls and Java prefer AES-GCM whatever the CPU shows; Go, BoringSSL and GnuTLS
prefer ChaCha20 where they do not see AES (`unmask.crypto.consumers` says so of each). What a
configuration lists for TLS 1.2 says nothing about 1.3, so that only a list with one family in it,
or one that begins with a suite of 1.3, counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from unmask.crypto.ciphers import family
from unmask.model.finding import Confidence
from unmask.model.inside import Inside
from unmask.model.inside_programs import TlsService
from unmask.model.inventory import Guest
from unmask.model.tls_endpoint import TlsEndpoint
from unmask.model.workload import Activity, Finder, Workload, WorkloadKind
from unmask.workloads._asked import entered, facts, listed, owed, shortfalls, system
from unmask.workloads._library import Crypto, of_processes, of_program, of_socket
from unmask.workloads._tls_ports import TlsPort, connection, tls_ports, undecided

CHACHA = "ChaCha20-Poly1305"
Alike: TypeAlias = tuple[str, str, str, str, bool]
"""Name, consumer, version, cipher and whether it listens."""


def find(guest: Guest) -> Iterator[Workload]:
    """Yield the TLS servers; raises `UnreadError` where sockets or programs were not read."""
    inside = entered(guest)
    ports = tls_ports(guest)
    groups: dict[Alike, list[tuple[TlsPort, Crypto]]] = {}
    for item in ports:
        crypto = _crypto(guest, inside, item)
        key = (item.name, crypto.consumer, crypto.version, _cipher(item, crypto), _open(item))
        groups.setdefault(key, []).append((item, crypto))
    for key, members in groups.items():
        yield _workload(inside, key, members)
    if inside:
        owed(inside.listeners, inside.tls_services)
        if undecided(inside, ports):
            owed(inside.tls_processes)


def _workload(inside: Inside | None, key: Alike, members: list[tuple[TlsPort, Crypto]]) -> Workload:
    name, consumer, version, cipher, active = key
    ports = tuple(item.port for item, _ in members)
    said = [text for item, crypto in members for text in _evidence(inside, item, crypto)]
    label = members[0][1].label
    sure = [_confidence(item, crypto) for item, crypto in members]
    return Workload(
        kind=WorkloadKind.TLS,
        name=name,
        consumer=consumer,
        cipher=cipher,
        version=version,
        detail=f"{label}, {'port' if len(ports) == 1 else 'ports'} {listed(ports)}",
        activity=Activity.ACTIVE if active else Activity.CONFIGURED,
        evidence=facts(said),
        confidence=next(
            level
            for level in (Confidence.TENTATIVE, Confidence.FIRM, Confidence.CERTAIN)
            if level in sure
        ),
        ports=ports,
    )


def _crypto(guest: Guest, inside: Inside | None, item: TlsPort) -> Crypto:
    if windows(guest):
        text = "Windows serves TLS by SChannel, unless the program brings a library of its own."
        version = system(inside).kernel if inside else ""
        return Crypto("windows", version, seen=item.port == 3389, evidence=(text,))
    if inside is None:
        return Crypto(evidence=("From outside nothing tells whose cryptography it is.",))
    if item.socket and item.socket.processes:
        return of_socket(inside, item.socket)
    if item.service:
        return of_program(inside, *item.programs)
    return of_processes(inside, [], ())


def windows(guest: Guest) -> bool:
    """Return whether Windows runs in a guest: as it says itself, else as it is declared."""
    inside = entered(guest)
    if inside and system(inside).kernel_name:
        return system(inside).kernel_name == "Windows"
    # Proxmox VE writes "w2k8" and "win11", libosinfo "http://microsoft.com/win/11".
    declared = guest.os_declared.lower()
    return declared.startswith(("win", "w2k")) or "microsoft.com" in declared


def _open(item: TlsPort) -> bool:
    return item.socket is not None or item.endpoint is not None


def _cipher(item: TlsPort, crypto: Crypto) -> str:
    """Return the cipher that is known to be used; "" where the library's default is."""
    endpoint = item.endpoint
    if endpoint:
        if endpoint.prefers_chacha and family(endpoint.cipher) != "chacha20":
            return CHACHA
        return endpoint.cipher
    configured = _configured(item.service) if item.service else ""
    # SChannel is judged by the same knowledge as BitLocker, whose default is XTS.
    return configured or ("AES-GCM" if crypto.consumer == "windows" else "")


def _configured(service: TlsService) -> str:
    """Return the cipher that the configuration settles."""
    for text in service.ciphers:
        names = [name for name in text.replace(",", ":").replace(" ", ":").split(":") if name]
        if names and names[0].startswith("TLS_"):
            return names[0]
    names = [
        name
        for text in service.ciphers
        for name in text.replace(",", ":").replace(" ", ":").split(":")
        if family(name) in ("gcm", "chacha20", "ccm") and name[0] not in "!-+"
    ]
    return names[0] if len({family(name) for name in names}) == 1 else ""


def _confidence(item: TlsPort, crypto: Crypto) -> Confidence:
    """Return how sure it is that this port speaks TLS, and with this library."""
    shown = item.endpoint is not None or item.service is not None
    if not crypto.seen or not crypto.consumer:
        return Confidence.TENTATIVE
    return Confidence.CERTAIN if shown else Confidence.FIRM


def _evidence(inside: Inside | None, item: TlsPort, crypto: Crypto) -> Iterator[str]:
    if item.socket:
        yield item.socket.sentence
    if item.quic:
        yield f"It also listens on UDP port {item.port} (QUIC)."
    if item.service:
        yield from _settings(item.service)
    if item.endpoint:
        yield from _connection(item.endpoint)
    if not item.service and not item.endpoint:
        yield f"That port {item.port} speaks TLS is taken from its number."
    yield from crypto.evidence
    if inside:
        yield from shortfalls(inside, "listeners", "tls_services")


def _settings(service: TlsService) -> Iterator[str]:
    """Yield what a server's configuration says."""
    ports = f" for port {listed(service.ports)}" if service.ports else ""
    yield f"The configuration of {service.name} turns TLS on{ports}."
    if service.ciphers:
        yield f"It sets the ciphers {listed(service.ciphers)[:300]}."
    if service.server_order is not None:
        whose = "server's" if service.server_order else "client's"
        yield f"The {whose} order of ciphers decides."


def _connection(endpoint: TlsEndpoint) -> Iterator[str]:
    """Yield what a connection from outside showed."""
    yield connection(endpoint)
    if endpoint.prefers_chacha:
        yield "It takes ChaCha20 although the client offers AES first."
    if endpoint.follows_client:
        yield "The client's order of ciphers decides: phones may ask for ChaCha20."


WORKLOAD = Finder(WorkloadKind.TLS, find)
