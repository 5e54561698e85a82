"""Programs of a guest that encrypt: TLS servers, backup tools, databases, OpenSSL."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Library(StrEnum):
    """Who does the cryptography of a program."""

    OPENSSL = "openssl"
    GNUTLS = "gnutls"
    NSS = "nss"
    GO = "go"
    """Go's own crypto packages."""
    JAVA = "java"
    RUSTLS = "rustls"
    BORINGSSL = "boringssl"
    WOLFSSL = "wolfssl"
    MBEDTLS = "mbedtls"
    LIBSODIUM = "libsodium"
    LIBRESSL = "libressl"


@dataclass(frozen=True, slots=True)
class TlsProcess:
    """A listening program and the libraries that it has loaded, or that are built into it."""

    name: str
    """As the kernel calls it: "nginx"."""
    executable: str = ""
    """Path; "" where only root may see it."""
    libraries: tuple[Library, ...] = ()
    """Sorted; none where no library was recognised."""
    evidence: tuple[str, ...] = ()
    """File names of the libraries, or what was found in the executable; sorted."""
    pids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TlsService:
    """A server whose configuration turns TLS on."""

    name: str
    """"nginx", "apache", "haproxy", "postfix", "dovecot", "stunnel" ..."""
    ports: tuple[int, ...] = ()
    ciphers: tuple[str, ...] = ()
    """Cipher lists as configured, each a text in the library's own form; none for its default."""
    server_order: bool | None = None
    """Whether the server's order of ciphers wins; None where the configuration does not say."""


@dataclass(frozen=True, slots=True)
class OpenSsl:
    """The OpenSSL command of the guest; all empty where there is none."""

    version: str = ""
    """"OpenSSL 3.0.20", "LibreSSL 3.8.2"."""
    capabilities: str = ""
    """The CPU's capabilities as the library sees them, after masking:
    "0xfed8320b0fcbfffd:0x8001021c01d843a9" (OPENSSL_ia32cap, from 3.0 on)."""
    masks: tuple[str, ...] = ()
    """Places that set OPENSSL_ia32cap or OPENSSL_armcap: "/etc/environment"."""


@dataclass(frozen=True, slots=True)
class BackupTool:
    """A program for encrypted backups that is installed or scheduled."""

    name: str
    """"restic", "borg", "kopia", "rclone", "duplicity", "proxmox-backup-client" ..."""
    version: str = ""
    path: str = ""
    schedules: tuple[str, ...] = ()
    """Files and units that start it: "/etc/cron.d/backup", "restic.timer"."""


@dataclass(frozen=True, slots=True)
class Database:
    """A database server that is configured or installed."""

    name: str
    """"postgresql", "mysql", "mariadb", "mongodb", "redis"."""
    version: str = ""
    tls: bool | None = None
    """Whether TLS is on; None where the configuration does not say."""
    encrypted_at_rest: bool | None = None
