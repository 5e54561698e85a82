"""GELI providers of FreeBSD, attached or seen on the disks from the host."""

from __future__ import annotations

from collections.abc import Iterator

from unmask.model.finding import Confidence
from unmask.model.inside import Inside
from unmask.model.inside_storage import Geli
from unmask.model.inventory import Guest
from unmask.model.workload import Activity, Finder, Workload, WorkloadKind
from unmask.workloads._asked import entered, owed, said, system
from unmask.workloads._host_parts import HostPart, host_parts

FREEBSD = "freebsd"


def find(guest: Guest) -> Iterator[Workload]:
    """Yield the providers; raises `UnreadError` where FreeBSD did not tell of them."""
    inside = entered(guest)
    left = [part for part in host_parts(guest) if part.part.kind == "geli"]
    for provider in said(inside.geli, ()) if inside else ():
        part = next((item for item in left if _fits(item, provider)), None)
        if part:
            left.remove(part)
        yield _attached(inside, provider, part)
    for part in left:
        yield _seen_outside(inside, part)
    if inside and system(inside).kernel_name in ("FreeBSD", ""):
        owed(inside.geli)


def _fits(part: HostPart, provider: Geli) -> bool:
    ciphers = not (part.cipher and provider.algorithm) or part.cipher == provider.algorithm
    keys = not (part.key_bits and provider.key_bits) or part.key_bits == provider.key_bits
    return ciphers and keys


def _attached(inside: Inside | None, provider: Geli, part: HostPart | None) -> Workload:
    bits = f", {provider.key_bits}-bit key" if provider.key_bits else ""
    what = f"{provider.algorithm or 'an algorithm that it does not name'}{bits}"
    evidence = [f"geli list shows {provider.name} attached with {what}."]
    if provider.crypto:
        evidence.append(f'It says "Crypto: {provider.crypto}".')
    if part:
        evidence.append(f"The host sees GELI on {part.place}.")
    suspended = provider.state == "SUSPENDED"
    return Workload(
        kind=WorkloadKind.GELI,
        name=provider.name,
        consumer=FREEBSD,
        cipher=provider.algorithm,
        version=system(inside).kernel if inside else "",
        detail=what,
        activity=Activity.CLOSED if suspended else Activity.ACTIVE,
        evidence=tuple(evidence),
        confidence=Confidence.FIRM if suspended else Confidence.CERTAIN,
        driver=provider.crypto,
    )


def _seen_outside(inside: Inside | None, part: HostPart) -> Workload:
    return Workload(
        kind=WorkloadKind.GELI,
        name=part.place,
        consumer=FREEBSD,
        cipher=part.cipher,
        version=system(inside).kernel if inside else "",
        detail=", ".join(
            filter(None, (part.cipher, f"{part.key_bits}-bit key" if part.key_bits else ""))
        ),
        activity=Activity.CONFIGURED,
        evidence=(f"The host sees GELI on {part.place}: {part.cipher or 'no cipher told'}.",),
    )


WORKLOAD = Finder(WorkloadKind.GELI, find)
