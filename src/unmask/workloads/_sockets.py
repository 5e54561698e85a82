"""The ports on which a guest listens, and the programs that are known to hold them."""

from __future__ import annotations

from dataclasses import dataclass

from unmask.model.inside import Inside
from unmask.model.inside_tunnels import Listener
from unmask.workloads._asked import listed, said

DATABASES = {
    "postgres": "postgresql",
    "postmaster": "postgresql",
    "mysqld": "mysql",
    "mariadbd": "mariadb",
    "mongod": "mongodb",
    "mongos": "mongodb",
    "redis-server": "redis",
    "valkey-server": "redis",
}
"""Programs that are database servers, by the kernel's name of them (15 characters at most)."""
DATABASE_PORTS = {
    5432: "postgresql",
    3306: "mysql",
    27017: "mongodb",
    6379: "redis",
    6380: "redis",
}
OPENVPN = "openvpn"
SSH = ("sshd", "dropbear")
SAMBA = ("smbd", "ksmbd")
IKE = ("charon", "charon-systemd", "pluto", "racoon", "iked", "starter")
TUNNELS = frozenset({OPENVPN, *SSH, *SAMBA, *IKE})
"""Programs that speak a protocol of their own, not TLS, whatever library they have loaded."""


@dataclass(frozen=True, slots=True)
class Socket:
    """One port with all addresses on which the guest listens there."""

    protocol: str
    port: int
    addresses: tuple[str, ...]
    processes: tuple[str, ...]
    pids: tuple[int, ...]

    @property
    def place(self) -> str:
        """Return "TCP port 443", with the address where it is not open to others."""
        where = f"{self.protocol.upper()} port {self.port}"
        inner = all(_inner(address) for address in self.addresses)
        return f"{where} of {listed(self.addresses)} only" if inner else where

    @property
    def sentence(self) -> str:
        """Return who listens there."""
        if self.processes:
            return f"{listed(self.processes)} listens on {self.place}."
        return f"Something listens on {self.place}; who holds it was not seen."


def sockets(inside: Inside, protocol: str) -> dict[int, Socket]:
    """Return the sockets of "tcp" or "udp" by port, in order; none where that was not read."""
    found: dict[int, list[Listener]] = {}
    for listener in said(inside.listeners, ()):
        if listener.protocol == protocol:
            found.setdefault(listener.port, []).append(listener)
    return {port: _socket(protocol, port, found[port]) for port in sorted(found)}


def held(inside: Inside, programs: tuple[str, ...], protocol: str = "") -> tuple[Socket, ...]:
    """Return the sockets that one of `programs` holds, TCP before UDP."""
    found = [*sockets(inside, "tcp").values(), *sockets(inside, "udp").values()]
    return tuple(
        socket
        for socket in found
        if set(programs) & set(socket.processes) and protocol in ("", socket.protocol)
    )


def names_seen(inside: Inside) -> bool:
    """Return whether the names of the programs behind the sockets could be seen."""
    return any(listener.processes for listener in said(inside.listeners, ()))


def _socket(protocol: str, port: int, listeners: list[Listener]) -> Socket:
    return Socket(
        protocol,
        port,
        tuple(dict.fromkeys(listener.address for listener in listeners)),
        tuple(sorted({name for listener in listeners for name in listener.processes})),
        tuple(sorted({pid for listener in listeners for pid in listener.pids})),
    )


def _inner(address: str) -> bool:
    return address.startswith(("127.", "[::1]", "::1", "localhost"))
