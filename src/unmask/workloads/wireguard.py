"""WireGuard: its interfaces, and whether the kernel or a program encrypts.

It is always ChaCha20-Poly1305. Programs beside the kernel are wireguard-go and boringtun, which
look alike from outside; the first is by far the more common one.
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.model.finding import Confidence
from unmask.model.inside import Inside
from unmask.model.inside_tunnels import WireGuard
from unmask.model.inventory import Guest
from unmask.model.workload import Activity, Finder, Workload, WorkloadKind
from unmask.workloads._asked import entered, owed, said, shortfalls, system
from unmask.workloads._sockets import names_seen, sockets

PORT = 51820
CIPHER = "chacha20-poly1305"


def find(guest: Guest) -> Iterator[Workload]:
    """Yield the interfaces; where they were not read, what an open port lets one expect."""
    inside = entered(guest)
    if inside is None:
        return
    for interface in said(inside.wireguard, ()):
        yield _interface(inside, interface)
    if not inside.wireguard.known:
        yield from _likely(inside)
    owed(inside.wireguard)


def _interface(inside: Inside, found: WireGuard) -> Workload:
    consumer, version, who = _who(inside, userspace=found.userspace)
    port = f", UDP port {found.port}" if found.port else ""
    said_of = [f"The interface {found.interface} is WireGuard's{_peers(found.peers)}."]
    if found.userspace:
        said_of.append("A program encrypts in place of the kernel: taken for wireguard-go.")
    if found.port in sockets(inside, "udp"):
        said_of.append(f"Its UDP port {found.port} is open.")
    return Workload(
        kind=WorkloadKind.WIREGUARD,
        name=found.interface,
        consumer=consumer,
        cipher=CIPHER,
        version=version,
        detail=f"{who}{port}",
        activity=Activity.CONFIGURED if found.peers == 0 else Activity.ACTIVE,
        evidence=(*said_of, *shortfalls(inside, "wireguard")),
        confidence=Confidence.TENTATIVE if found.userspace else Confidence.CERTAIN,
        ports=(found.port,) if found.port else (),
    )


def _peers(count: int | None) -> str:
    if count is None:
        return ""
    return f" with {count} {'peer' if count == 1 else 'peers'}"


def _who(inside: Inside, *, userspace: bool) -> tuple[str, str, str]:
    """Return the consumer, its version and a word for people."""
    if userspace:
        return "go", "", "in user space"
    if system(inside).kernel_name == "FreeBSD":
        return "freebsd", system(inside).kernel, "in FreeBSD's kernel"
    return "wireguard", system(inside).kernel, "in the kernel"


def _likely(inside: Inside) -> Iterator[Workload]:
    socket = sockets(inside, "udp").get(PORT)
    if socket is None or socket.processes:
        return
    consumer, version, who = _who(inside, userspace=False)
    holder = (
        "No program holds it, as where the kernel listens."
        if names_seen(inside)
        else "Which programs hold the ports was not seen."
    )
    yield Workload(
        kind=WorkloadKind.WIREGUARD,
        name=f"port {PORT}",
        consumer=consumer,
        cipher=CIPHER,
        version=version,
        detail=f"{who}, UDP port {PORT}",
        activity=Activity.ACTIVE,
        evidence=(f"UDP port {PORT}, WireGuard's usual one, is open.", holder),
        confidence=Confidence.TENTATIVE,
        ports=(PORT,),
    )


WORKLOAD = Finder(WorkloadKind.WIREGUARD, find)
