"""OpenVPN: each configuration, with its first cipher and who encrypts: the program or the kernel.

Since 2.6 the kernel can encrypt (data channel offload), whose AES-GCM is another one than
OpenSSL's. A static key takes no AEAD cipher, and Blowfish unless the configuration says otherwise
(openvpn(8), --cipher). 2.4 and newer take AES-256-GCM first.
"""

from __future__ import annotations

from collections.abc import Iterator

from unmask.crypto.versions import parse
from unmask.model.finding import Confidence
from unmask.model.inside import Inside
from unmask.model.inside_tunnels import OpenVpn
from unmask.model.inventory import Guest
from unmask.model.workload import Activity, Finder, Workload, WorkloadKind
from unmask.workloads._asked import entered, listed, owed, said, shortfalls, system
from unmask.workloads._library import Crypto, openssl
from unmask.workloads._sockets import OPENVPN, Socket, held, names_seen, sockets

PORT = 1194
OFFLOAD = {"ovpn": "openvpn-dco", "ovpn_dco": "openvpn-dco", "ovpn_dco_v2": "openvpn-dco"}
"""Linux's modules of the offload: in the kernel since 6.16, and the ones beside it."""
FREEBSD_OFFLOAD = "if_ovpn"
_DEFAULT = "AES-256-GCM"
_STATIC_DEFAULT = "BF-CBC"
_LIBRARIES = {"mbed": "mbedtls", "wolfSSL": "wolfssl", "LibreSSL": ""}


def find(guest: Guest) -> Iterator[Workload]:
    """Yield the configurations, or what is known of a running OpenVPN without one."""
    inside = entered(guest)
    if inside is None:
        return
    configs = said(inside.openvpn, ())
    sockets_held = held(inside, (OPENVPN,))
    for config in configs:
        yield _configured(inside, config, _sockets_of(inside, config, sockets_held))
    if not configs and sockets_held:
        yield _running(inside, sockets_held)
    elif not configs and not names_seen(inside):
        yield from _likely(inside)
    owed(inside.openvpn)


def _sockets_of(
    inside: Inside, config: OpenVpn, sockets_held: tuple[Socket, ...]
) -> tuple[Socket, ...]:
    """Return the sockets that a configuration asks for; a client's may be any that are left."""
    protocol = "tcp" if config.transport.startswith("tcp") else "udp"
    port = config.port or (PORT if config.mode == "server" else 0)
    own = sockets(inside, protocol).get(port)
    if own and (not own.processes or OPENVPN in own.processes):
        return (own,)
    return () if config.mode == "server" else sockets_held


def _configured(inside: Inside, config: OpenVpn, found: tuple[Socket, ...]) -> Workload:
    crypto = _crypto(inside, config)
    cipher = config.ciphers[0] if config.ciphers else ""
    if not cipher and config.mode == "peer":
        cipher = _STATIC_DEFAULT
    elif not cipher and crypto.consumer == "freebsd":
        cipher = _DEFAULT  # what is known of its kernel begins with disks
    parts = [_who(crypto), config.mode, *(socket.place for socket in found[:1])]
    return Workload(
        kind=WorkloadKind.OPENVPN,
        name=config.config,
        consumer=crypto.consumer,
        cipher=cipher,
        version=crypto.version,
        detail=", ".join(part for part in parts if part),
        activity=Activity.ACTIVE if found else Activity.CONFIGURED,
        evidence=(*_said_by(config), *(socket.sentence for socket in found), *crypto.evidence,
                  *shortfalls(inside, "openvpn")),
        confidence=Confidence.FIRM if crypto.seen else Confidence.TENTATIVE,
        ports=tuple(sorted({socket.port for socket in found})),
    )  # fmt: skip


def _who(crypto: Crypto) -> str:
    """Return who encrypts, for people."""
    if crypto.consumer in ("openvpn-dco", "freebsd"):
        return "in the kernel (DCO)"
    if crypto.consumer == OPENVPN:
        return f"{f'OpenSSL {crypto.version}'.strip()} in user space"
    return crypto.label


def _said_by(config: OpenVpn) -> Iterator[str]:
    version = f"OpenVPN {config.version}" if config.version else "OpenVPN"
    role = f" as a {config.mode}" if config.mode in ("server", "client") else ""
    yield f"{config.config} configures {version}{role}."
    if config.ciphers:
        yield f"Its order of ciphers is {listed(config.ciphers)}."
    elif config.mode == "peer":
        yield f"It has a static key and names no cipher: the default is {_STATIC_DEFAULT}."
    elif config.outranked:
        yield (
            f"Its cipher {config.outranked} counts only where the other side cannot negotiate: "
            f"{_DEFAULT} comes first."
        )
    else:
        yield f"It names no cipher: the default is {_DEFAULT}."


def _crypto(inside: Inside, config: OpenVpn) -> Crypto:
    """Return who encrypts, with the release of OpenSSL or the kernel behind it."""
    modules = inside.kernel_crypto
    loaded = said(modules, None)
    offloads = [*OFFLOAD, FREEBSD_OFFLOAD]
    active = next(
        (
            name
            for name in offloads
            if loaded and loaded.loaded(name) and _speaks(config.version, name)
        ),
        "",
    )
    if config.offload is None and active:
        consumer = OFFLOAD.get(active, "freebsd")
        text = f"The kernel has the module {active} loaded and nothing rules it out (DCO)."
        return Crypto(consumer, system(inside).kernel, seen=True, evidence=(text,))
    if config.offload is None:
        text = "That the kernel does not encrypt (DCO) is assumed: " + (
            "no module that it could use is loaded."
            if loaded
            else f"its modules are not known ({getattr(modules, 'reason', '')})."
        )
        return _user_space(inside, config, (text,), sure=loaded is not None)
    return _user_space(inside, config, (), sure=True)


def _speaks(version: str, module: str) -> bool:
    """Return whether a release can use a module: 2.6 knows none of the kernel's own, 2.7 no other.

    The kernel's "ovpn" has another interface than "ovpn-dco-v2" beside it (OpenVPN's Changes.rst).
    """
    numbers = parse(version)
    if not numbers or module == FREEBSD_OFFLOAD:
        return True
    return (numbers >= (2, 7)) == (module == "ovpn")


def _user_space(
    inside: Inside, config: OpenVpn, evidence: tuple[str, ...], *, sure: bool
) -> Crypto:
    name, _, version = config.library.rpartition(" ")
    for start, consumer in _LIBRARIES.items():
        if name.startswith(start):
            text = f"It is built with {config.library}."
            return Crypto(consumer, version if consumer else "", sure, (*evidence, text))
    if name == "OpenSSL":
        return Crypto("openvpn", version, sure, evidence)
    crypto = openssl(inside, evidence)
    return Crypto("openvpn" if crypto.consumer else "", crypto.version, sure, crypto.evidence)


def _running(inside: Inside, found: tuple[Socket, ...]) -> Workload:
    """Return what is known of a running OpenVPN whose configuration was not read."""
    crypto = openssl(inside)
    text = f"Its configuration was not read: that it takes {_DEFAULT} is its default."
    return Workload(
        kind=WorkloadKind.OPENVPN,
        name=OPENVPN,
        consumer=OPENVPN if crypto.consumer else "",
        version=crypto.version,
        detail=f"{listed(socket.place for socket in found)}",
        activity=Activity.ACTIVE,
        evidence=(*(socket.sentence for socket in found), text, *crypto.evidence,
                  *shortfalls(inside, "openvpn")),
        confidence=Confidence.TENTATIVE,
        ports=tuple(sorted({socket.port for socket in found})),
    )  # fmt: skip


def _likely(inside: Inside) -> Iterator[Workload]:
    """Yield OpenVPN where only its port tells: neither names nor configurations were readable."""
    found = sockets(inside, "udp").get(PORT) or sockets(inside, "tcp").get(PORT)
    if found:
        yield _running(inside, (found,))


WORKLOAD = Finder(WorkloadKind.OPENVPN, find)
