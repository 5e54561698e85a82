"""The SSH server: with the cipher that it puts first.

The client's order decides, and OpenSSH's client has the same one as its server unless somebody has
changed either: ChaCha20-Poly1305 first since 6.9. OpenSSH encrypts with libcrypto.
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.model.finding import Confidence
from unmask.model.inside import Inside
from unmask.model.inside_tunnels import SshServer
from unmask.model.inventory import Guest
from unmask.model.workload import Activity, Finder, Workload, WorkloadKind
from unmask.workloads._asked import entered, listed, owed, said, shortfalls
from unmask.workloads._library import Crypto, openssl
from unmask.workloads._sockets import SSH, Socket, held, names_seen, sockets

FIRST = "chacha20-poly1305@openssh.com"
PORT = 22


def find(guest: Guest) -> Iterator[Workload]:
    """Yield the server, where there is one."""
    inside = entered(guest)
    if inside is None:
        return
    server = said(inside.ssh, SshServer())
    found = _listening(inside)
    if server.version or found:
        yield _server(inside, server, found)
    owed(inside.ssh)


def _listening(inside: Inside) -> tuple[Socket, ...]:
    found = held(inside, SSH, "tcp")
    if found or names_seen(inside):
        return found
    usual = sockets(inside, "tcp").get(PORT)
    return (usual,) if usual else ()


def _server(inside: Inside, server: SshServer, found: tuple[Socket, ...]) -> Workload:
    crypto = _crypto(inside, server)
    cipher = server.ciphers[0] if server.ciphers else FIRST
    if server.ciphers:
        whose = "the operator's" if server.configured else "its"
        order = f"The server's order of ciphers is {whose} own: {listed(server.ciphers)}."
    else:
        order = f"Its order of ciphers was not read: that {FIRST} comes first is the default."
    places = [f"port {socket.port}" for socket in found]
    return Workload(
        kind=WorkloadKind.SSH,
        name=server.version or "SSH server",
        consumer=crypto.consumer,
        cipher=cipher,
        version=crypto.version,
        detail=", ".join([crypto.label, *places]),
        activity=Activity.ACTIVE if found else Activity.CONFIGURED,
        evidence=(
            *(socket.sentence for socket in found),
            order,
            *crypto.evidence,
            *shortfalls(inside, "ssh"),
        ),
        confidence=Confidence.FIRM if server.ciphers and crypto.seen else Confidence.TENTATIVE,
        ports=tuple(sorted({socket.port for socket in found})),
    )


def _crypto(inside: Inside, server: SshServer) -> Crypto:
    if server.version.startswith("Dropbear"):
        return Crypto(evidence=("Dropbear has its own cryptography, which was not looked at.",))
    return openssl(inside, seen=bool(server.version))


WORKLOAD = Finder(WorkloadKind.SSH, find)
