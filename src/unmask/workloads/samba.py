"""Samba: where the server wants encryption, globally or for a share.

Encryption is GnuTLS's since Samba 4.11. "default" lets a client ask for it, which hardly any does,
so that only "desired" and "required" count. AES-128-GCM comes first, and Windows 10 and newer take
it (smb.conf(5), `server smb3 encryption algorithms`); Windows 8 has AES-128-CCM only.
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.model.finding import Confidence
from unmask.model.inside import Inside
from unmask.model.inside_tunnels import Samba
from unmask.model.inventory import Guest
from unmask.model.workload import Activity, Finder, Workload, WorkloadKind
from unmask.workloads._asked import entered, listed, owed, said, shortfalls
from unmask.workloads._sockets import SAMBA, held, sockets

WANTED = ("desired", "required")
CIPHER = "AES-128-GCM"
PORT = 445


def find(guest: Guest) -> Iterator[Workload]:
    """Yield the server where it wants encryption."""
    inside = entered(guest)
    if inside is None:
        return
    samba = said(inside.samba, Samba())
    shares = [name for name, value in samba.shares if value in WANTED]
    if samba.encryption in WANTED or shares:
        yield _server(inside, samba, shares)
    owed(inside.samba)


def _server(inside: Inside, samba: Samba, shares: list[str]) -> Workload:
    usual = sockets(inside, "tcp").get(PORT)
    found = held(inside, SAMBA, "tcp") or ((usual,) if usual and not usual.processes else ())
    says = []
    if samba.encryption in WANTED:
        says.append(f"The global setting of server smb encrypt is {samba.encryption}.")
    if shares:
        says.append(f"The shares {listed(shares)} want encryption.")
    says.append(f"Windows 10 and newer choose {CIPHER} of what it offers.")
    version = f"Samba {samba.version}" if samba.version else "Samba"
    return Workload(
        kind=WorkloadKind.SAMBA,
        name="samba",
        consumer="gnutls",
        cipher=CIPHER,
        detail=f"{version}, {samba.encryption if samba.encryption in WANTED else listed(shares)}",
        activity=Activity.ACTIVE if found else Activity.CONFIGURED,
        evidence=(
            *says,
            *(socket.sentence for socket in found),
            *shortfalls(inside, "samba"),
        ),
        confidence=Confidence.FIRM,
        ports=tuple(sorted({socket.port for socket in found})),
    )


WORKLOAD = Finder(WorkloadKind.SAMBA, find)
