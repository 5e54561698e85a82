"""Sockets and encrypted connections of a guest: VPNs, SSH, Samba."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Listener:
    """A socket that waits for connections or datagrams."""

    protocol: str
    """"tcp" or "udp"."""
    address: str
    """As printed, without the port: "0.0.0.0", "[::]", "127.0.0.53%lo", "*"."""
    port: int
    processes: tuple[str, ...] = ()
    """Names of the programs that hold it, sorted; none where only root may see them, or where the
    kernel itself listens (WireGuard)."""
    pids: tuple[int, ...] = ()
    """Their process numbers, sorted."""


@dataclass(frozen=True, slots=True)
class OpenVpn:
    """One configuration of OpenVPN."""

    config: str
    """Path of its file."""
    mode: str = ""
    """"server", "client", "peer" (a static key)."""
    port: int | None = None
    transport: str = ""
    """"udp", "tcp-server" ...: the option `proto`."""
    device: str = ""
    """"tun", "tap0" ...: the option `dev`."""
    ciphers: tuple[str, ...] = ()
    """In the order of preference: `data-ciphers` (`ncp-ciphers`), or `cipher` where nothing is
    negotiated; none where the built-in order holds."""
    offload: bool | None = None
    """Whether the kernel may encrypt (DCO): False where the build or an option rules it out, None
    where that is not known."""
    version: str = ""
    library: str = ""
    """"OpenSSL 3.0.20"."""
    outranked: str = ""
    """What `cipher` names where the built-in order comes first all the same."""


@dataclass(frozen=True, slots=True)
class SecurityAssociation:
    """The algorithms of one IPsec association in the kernel, without its keys."""

    algorithm: str
    """The kernel's word: "rfc4106(gcm(aes))", "cbc(aes)", "aes-gcm-16"."""
    integrity: str = ""
    """"hmac(sha256)"; "" for an AEAD algorithm."""
    key_bits: int | None = None
    """Bits of the key, a salt not counted; None where the key was not shown."""
    protocol: str = ""
    """"esp" or "ah"."""


@dataclass(frozen=True, slots=True)
class IpSec:
    """IPsec in the guest; all empty where it has none."""

    associations: tuple[SecurityAssociation, ...] = ()
    """Distinct ones."""
    daemon: str = ""
    """"strongSwan", "Libreswan", "racoon", "iked"; "" for none."""
    plugins: tuple[str, ...] = ()
    """strongSwan's loaded plugins."""
    connections: tuple[str, ...] = ()
    """Names of configured connections, sorted."""
    proposals: tuple[str, ...] = ()
    """Encryption algorithms in the daemon's words, as configured or negotiated: "AES_GCM_16-256",
    "aes256gcm16-prfsha384". Those of tunnels come before those of the key exchange."""


@dataclass(frozen=True, slots=True)
class WireGuard:
    """A WireGuard interface."""

    interface: str
    port: int | None = None
    peers: int | None = None
    userspace: bool = False
    """A program (wireguard-go, boringtun) encrypts instead of the kernel."""


@dataclass(frozen=True, slots=True)
class SshServer:
    """The SSH server; all empty where there is none."""

    version: str = ""
    """"OpenSSH_9.2p1", "Dropbear v2022.83"."""
    ciphers: tuple[str, ...] = ()
    """In its order of preference; none where the built-in order holds and could not be read."""
    configured: bool = False
    """The operator has set the ciphers."""


@dataclass(frozen=True, slots=True)
class Samba:
    """Samba; all empty where there is none."""

    version: str = ""
    encryption: str = ""
    """The global `server smb encrypt`: "default", "off", "desired", "required"; "" where the
    configuration could not be read."""
    shares: tuple[tuple[str, str], ...] = ()
    """Shares that set their own, by name."""
    signing: str = ""
    """`server signing`, where it is set."""
