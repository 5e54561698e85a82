"""Which of a guest's ports are looked at for TLS, and what they show.

This is no scan: without knowledge of the guest a short list of ports is asked, and with it only
those on which it listens for others. What a guest says of its ports and addresses is its own word,
so that their number is bounded in any case.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from ipaddress import ip_address

from unmask.connect import threads
from unmask.connect.starttls import BY_PORT
from unmask.connect.tls_endpoint import look
from unmask.connect.wire import UnreachableError
from unmask.errors import UnreadError
from unmask.model.inside import Inside
from unmask.model.inside_tunnels import Listener
from unmask.model.inventory import Guest
from unmask.model.tls_endpoint import TlsEndpoint
from unmask.visits._channel import NoWayError

WELL_KNOWN = (443, 8443, 993, 995, 465, 636, 853, 6697, 8006, 9443, 5432, 25, 587, 143)
"""Ports where TLS is likely; what is asked of a guest of which nothing is known."""
MORE_KNOWN = frozenset(
    {
        *WELL_KNOWN,
        *BY_PORT,
        *(
            563,
            989,
            990,
            992,
            994,
            2376,
            2379,
            2380,
            3269,
            4433,
            4443,
            5061,
            5223,
            5349,
            5671,
            5986,
        ),
        *(6443, 6514, 8007, 8448, 8883, 9200, 10250, 16514),
    }
)
"""Ports that are asked where the guest listens on them; IANA's registry and usage."""
NEVER = frozenset({22, 53, 80, 111, 139, 445, 1194, 2049, 3306})
"""Ports that do not begin with TLS, whatever library their programs have loaded. MySQL's would
count each look as a failed login (`unmask.connect.starttls`)."""
NO_TLS_PROGRAMS = frozenset(
    {"sshd", "sshd-session", "dropbear", "named", "unbound", "smbd", "mysqld", "mariadbd"}
)
"""Programs that load such a library and do not begin with TLS on ports of their own choice."""
MOST_PORTS = 16
MOST_AT_ONCE = 4
"""Ports of one guest that are looked at side by side."""
MOST_ADDRESSES = 3
PORT_SECONDS = 8.0
"""That one port may take."""


def ports(guest: Guest) -> tuple[int, ...]:
    """Return the TCP ports of a guest that are worth a look, at most 16.

    First come those that have TLS by their configuration, last those of programs that only have a
    library for it.
    """
    inside = guest.visit.inside
    if not inside.known or not inside.value.listeners.known:
        return WELL_KNOWN
    heard = [item for item in inside.value.listeners.value if _for_others(item)]
    by_service = _configured(inside.value)
    by_process = _encrypting(inside.value)
    ranks: dict[int, int] = {}
    for item in heard:
        rank = _rank(item, by_service, by_process)
        if rank is not None:
            ranks[item.port] = min(rank, ranks.get(item.port, rank))
    return tuple(sorted(ranks, key=lambda port: (ranks[port], port)))[:MOST_PORTS]


def _for_others(listener: Listener) -> bool:
    """Return whether a socket can be reached from outside, and may speak TLS."""
    if listener.protocol != "tcp" or listener.port in NEVER:
        return False
    text = listener.address.strip("[]").partition("%")[0]
    try:
        address = ip_address(text)
    except ValueError:
        return text != "localhost"  # "*": all of them
    return not address.is_loopback


def _rank(listener: Listener, by_service: frozenset[int], by_process: frozenset[str]) -> int | None:
    if listener.port in by_service:
        return 0
    if listener.port in MORE_KNOWN:
        return 1
    return 2 if by_process.intersection(listener.processes) else None


def _configured(inside: Inside) -> frozenset[int]:
    """Return the ports on which a configuration turns TLS on."""
    services = inside.tls_services.value if inside.tls_services.known else ()
    return frozenset(port for service in services for port in service.ports)


def _encrypting(inside: Inside) -> frozenset[str]:
    """Return the names of programs that listen and have a library for encryption loaded."""
    processes = inside.tls_processes.value if inside.tls_processes.known else ()
    return frozenset(item.name for item in processes if item.libraries) - NO_TLS_PROGRAMS


def endpoints(
    addresses: Sequence[str], ports: Sequence[int], seconds: float, names: Sequence[str] = ()
) -> tuple[TlsEndpoint, ...]:
    """Return the ports that speak TLS, at the first address where anything answers at all.

    Args:
        addresses: IP addresses or host names, the likeliest first.
        ports: TCP, at most 16.
        seconds: That all of it may take.
        names: Host names of the guest, which its servers are told (SNI).

    Raises:
        NoWayError: Nothing answers at any of the addresses.
    """
    end = time.monotonic() + seconds
    tried = addresses[:MOST_ADDRESSES]
    for number, address in enumerate(tried):
        share = (end - time.monotonic()) / (len(tried) - number)
        found = _at(address, ports[:MOST_PORTS], share, names)
        if found is not None:
            return found
    if not tried or not ports:
        return ()
    raise NoWayError(
        "no port answers at " + ", ".join(tried), "a way from here into the guest's network"
    )


def _at(
    address: str, ports: Sequence[int], seconds: float, names: Sequence[str]
) -> tuple[TlsEndpoint, ...] | None:
    """Return the TLS servers at one address in the order of `ports`; None where it is silent."""
    end = time.monotonic() + seconds

    def work(port: int) -> TlsEndpoint | UnreadError:
        try:
            return look(address, port, min(PORT_SECONDS, end - time.monotonic()), names)
        except UnreadError as error:
            return error

    results = threads.gather(work, ports, MOST_AT_ONCE, seconds, lambda _done: None).results
    answers = [results[index].result() for index in sorted(results)]
    if all(isinstance(answer, UnreachableError) for answer in answers):
        return None
    return tuple(_endpoints(answers))


def _endpoints(answers: Iterable[TlsEndpoint | UnreadError]) -> Iterable[TlsEndpoint]:
    return (answer for answer in answers if isinstance(answer, TlsEndpoint))
