"""IPsec: the algorithms of the kernel's associations, else what the daemon is configured for.

The kernel encrypts what a tunnel carries; the daemon (strongSwan, Libreswan) only exchanges keys,
unless strongSwan's plugin kernel-libipsec takes the kernel's place. In the words of both daemons
an AES without a mode is CBC. Where nothing is configured strongSwan offers AES-GCM first (5.9, by
swanctl).
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.crypto.ciphers import family
from unmask.crypto.drivers import meaning
from unmask.model.finding import Confidence
from unmask.model.inside import Inside
from unmask.model.inside_tunnels import IpSec, SecurityAssociation
from unmask.model.inventory import Guest
from unmask.model.outlook import Status
from unmask.model.workload import Activity, Finder, Workload, WorkloadKind
from unmask.workloads import _freebsd_crypto
from unmask.workloads._asked import entered, listed, owed, said, shortfalls, system
from unmask.workloads._sockets import IKE, Socket, held, names_seen, sockets

PORTS = (500, 4500)
IN_USER_SPACE = "kernel-libipsec"


def find(guest: Guest) -> Iterator[Workload]:
    """Yield one workload for each algorithm in the kernel, else for what is configured."""
    inside = entered(guest)
    if inside is None:
        return
    ipsec = said(inside.ipsec, IpSec())
    encrypting = [item for item in ipsec.associations if _encrypts(item)]
    if encrypting:
        for algorithm in dict.fromkeys(item.algorithm for item in encrypting):
            alike = [item for item in encrypting if item.algorithm == algorithm]
            yield _active(inside, algorithm, alike)
    elif ipsec.proposals or not ipsec.associations:
        yield from _configured(inside, ipsec)  # else the kernel shows that it only signs
    owed(inside.ipsec)


def _encrypts(item: SecurityAssociation) -> bool:
    """Return whether an association encrypts; AH, and ESP with NULL, only sign."""
    return bool(item.algorithm) and "null" not in item.algorithm.lower()


def _active(inside: Inside, algorithm: str, alike: list[SecurityAssociation]) -> Workload:
    consumer, where = _consumer(inside)
    driver = _driver(inside, algorithm) if consumer == "ipsec" else ""
    if consumer == "freebsd":
        driver = _freebsd_crypto.driver(inside, algorithm)
    sizes = sorted({item.key_bits for item in alike if item.key_bits})
    bits = f" with keys of {listed(sizes)} bits" if sizes else ""
    says = [f"An ESP association in the kernel uses {algorithm}{bits}."]
    if consumer == "freebsd":
        says += _freebsd_crypto.sentences(driver)
    elif driver:
        proof = "" if meaning(driver) is not Status.UNKNOWN else ", whose name proves nothing"
        says.append(f"The kernel serves it with the driver {driver}{proof}.")
    elif consumer == "ipsec" and inside.crypto_drivers.known:
        says.append(f"The kernel's list of drivers has none for {algorithm} yet.")
    return Workload(
        kind=WorkloadKind.IPSEC,
        name="ESP",
        consumer=consumer,
        cipher=algorithm,
        version=system(inside).kernel,
        detail=where,
        activity=Activity.ACTIVE,
        evidence=(*says, *shortfalls(inside, "ipsec")),
        confidence=Confidence.CERTAIN,
        driver=driver,
    )


def _driver(inside: Inside, algorithm: str) -> str:
    """Return the kernel's driver; "" where it is not known or none is registered.

    rfc4106(gcm(aes)), which IPsec asks for, is made of gcm(aes) where no driver has it whole.
    """
    if not inside.crypto_drivers.known:
        return ""
    inner = algorithm.partition("(")[2].removesuffix(")")
    serving = inside.serving(algorithm) or (inside.serving(inner) if inner.count("(") else None)
    return serving.driver if serving else ""


def _consumer(inside: Inside, plugins: tuple[str, ...] = ()) -> tuple[str, str]:
    """Return whose cryptography carries the tunnels, and a word for people."""
    if IN_USER_SPACE in plugins:
        return "strongswan", "strongSwan in user space (kernel-libipsec)"
    if system(inside).kernel_name == "FreeBSD":
        return "freebsd", "ESP in FreeBSD's kernel"
    return "ipsec", "ESP in the kernel"


def _configured(inside: Inside, ipsec: IpSec) -> Iterator[Workload]:
    """Yield what is configured or waits for a peer, without an association."""
    found = _listening(inside)
    if not (ipsec.connections or ipsec.proposals or found):
        return
    consumer, where = _consumer(inside, ipsec.plugins)
    cipher = next((name for name in map(_written, ipsec.proposals) if name), "")
    sure = bool(cipher)
    daemon = ipsec.daemon or "an IKE daemon"
    says = (
        [f"{daemon} has the connections {listed(ipsec.connections)}."] if ipsec.connections else []
    )
    if ipsec.proposals:
        says.append(f"Its proposals are {listed(ipsec.proposals)}.")
    if not cipher:
        says.append("Its cipher was not seen: AES-GCM, strongSwan's first choice, is assumed.")
        # What is known of FreeBSD's kernel begins with disks.
        cipher = "aes-gcm" if consumer == "freebsd" else ""
    yield Workload(
        kind=WorkloadKind.IPSEC,
        name=daemon if ipsec.daemon else "IKE",
        consumer=consumer,
        cipher=cipher,
        version="" if consumer == "strongswan" else system(inside).kernel,
        detail=where,
        activity=Activity.CONFIGURED,
        evidence=(*says, *(socket.sentence for socket in found), *shortfalls(inside, "ipsec")),
        confidence=Confidence.FIRM if sure and ipsec.connections else Confidence.TENTATIVE,
        ports=tuple(socket.port for socket in found),
    )


def _written(proposal: str) -> str:
    """Return a proposal's cipher in a form whose family can be told; "" for none."""
    first = proposal.lower().split("-")[0]
    if first.startswith("aes") and not family(first):
        return "aes-cbc"
    return proposal if family(proposal) not in ("", "unrecognised", "sha") else ""


def _listening(inside: Inside) -> tuple[Socket, ...]:
    """Return the sockets of key exchange; without names its ports have to do."""
    found = tuple(socket for socket in held(inside, IKE, "udp") if socket.port in PORTS)
    if found or names_seen(inside):
        return found
    udp = sockets(inside, "udp")
    return tuple(udp[port] for port in PORTS if port in udp) if all(p in udp for p in PORTS) else ()


WORKLOAD = Finder(WorkloadKind.IPSEC, find)
