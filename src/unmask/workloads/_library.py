"""Which library does the cryptography of a program, as far as what was seen of it tells."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from unmask.crypto.consumers import consumers
from unmask.model.inside import Inside
from unmask.model.inside_programs import Library, TlsProcess
from unmask.model.reading import Known
from unmask.workloads._asked import listed, said
from unmask.workloads._sockets import Socket

LIBRESSL = "LibreSSL"
_SPEAK_TLS = tuple(library for library in Library if library is not Library.LIBSODIUM)
_WORDS = (Library.GO, Library.RUSTLS, Library.BORINGSSL, Library.OPENSSL)
"""What is only a word in an executable, the telling one first.

Go writes its build information into every program; rustls brings ring or AWS-LC, whose sources are
BoringSSL's, and BoringSSL calls itself "OpenSSL 1.1.1 (compatible; BoringSSL)".
"""
_USUAL = {
    Library.OPENSSL: (
        "nginx openresty apache2 httpd haproxy lighttpd stunnel stunnel4 master smtpd dovecot "
        "imap-login pop3-login postgres postmaster mysqld mariadbd mongod mongos redis-server "
        "valkey-server pveproxy spiceproxy proxmox-backup- node vsftpd squid xrdp unbound openvpn"
    ),
    Library.GO: (
        "caddy traefik k3s-server kube-apiserver kubelet etcd vault consul minio dockerd grafana "
        "prometheus gitea rclone restic syncthing"
    ),
    Library.JAVA: "java jsvc",
    Library.GNUTLS: "exim4 slapd cupsd",
    Library.BORINGSSL: "envoy",
}
"""Who does it where these programs come from a distribution or their makers."""
FORWARDERS = frozenset(
    {"docker-proxy", "rootlessport", "slirp4netns", "pasta", "pasta.avx2", "socat", "xinetd",
     "inetd", "systemd", "sslh"}
)  # fmt: skip
"""Programs that hold a port for others: whoever encrypts is behind them, often in a container."""
_BY_NAME = {name: library for library, names in _USUAL.items() for name in names.split()}
_LABELS = {"go": "Go", "windows": "SChannel"}
"""What a consumer is called as a library, where its name for people says more."""
_SONAMES = (("so.3", (3,)), ("so.1.1", (1, 1)), ("so.1.0", (1, 0)), ("so.10", (1, 0)))


@dataclass(frozen=True, slots=True)
class Crypto:
    """Whose cryptography it is."""

    consumer: str = ""
    """An identity of `unmask.crypto.consumers`; "" where unknown."""
    version: str = ""
    seen: bool = False
    """False where it follows from the program's name alone."""
    evidence: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """Return "OpenSSL 3.0.20" for people."""
        if not self.consumer:
            return "library not known"
        name = _LABELS.get(self.consumer) or consumers()[self.consumer].name
        return f"{name} {self.version}" if self.version else name


UNKNOWN = Crypto()
MOST_PROGRAMS = 500
"""Listening programs of one guest that are told apart; a guest that claims more is not believed."""


def of_socket(inside: Inside, socket: Socket) -> Crypto:
    """Return whose cryptography the programs behind a socket use."""
    if set(socket.processes) & FORWARDERS:
        text = f"{listed(socket.processes)} only passes on what arrives: who encrypts was not seen."
        return Crypto(evidence=(text,))
    found = [
        process
        for process in said(inside.tls_processes, ())[:MOST_PROGRAMS]
        if set(process.pids) & set(socket.pids) or process.name in socket.processes
    ]
    return of_processes(inside, found, socket.processes)


def of_program(inside: Inside, *names: str) -> Crypto:
    """Return whose cryptography a program uses, wherever it listens."""
    found = [process for process in said(inside.tls_processes, ()) if process.name in names]
    return of_processes(inside, found, names)


def of_processes(inside: Inside, found: list[TlsProcess], names: Iterable[str]) -> Crypto:
    """Return whose cryptography these processes use, else what their names let one expect."""
    evidence = tuple(_sentence(process) for process in found if process.evidence)
    libraries = {library for process in found for library in _telling(process)}
    usual = {_BY_NAME[name] for name in names if name in _BY_NAME}
    if len(libraries) > 1 and len(libraries & usual) == 1:
        (chosen,) = libraries & usual
        text = f"It has several libraries; {listed(names, 'or')} is known to use {chosen}."
        return _crypto(inside, chosen, found, (*evidence, text))
    if len(libraries) > 1:
        several = listed(sorted(libraries))
        text = f"It has several libraries for this, and nothing tells which it uses: {several}."
        return Crypto(seen=True, evidence=(*evidence, text))
    if libraries:
        return _crypto(inside, libraries.pop(), found, evidence)
    return _expected(inside, usual, bool(found), evidence)


def _expected(
    inside: Inside,
    usual: set[Library],
    looked: bool,  # noqa: FBT001 - one of several facts
    evidence: tuple[str, ...],
) -> Crypto:
    """Return what names let one expect, where no library was recognised."""
    if isinstance(inside.tls_processes, Known):
        why = "no library of its was recognised" if looked else "its libraries were not seen"
    else:
        why = f"its libraries could not be read ({inside.tls_processes.reason})"
    if len(usual) != 1:
        return Crypto(evidence=(*evidence, f"Whose cryptography it uses is not known: {why}."))
    (chosen,) = usual
    text = f"That it uses {chosen} is taken from its name: {why}."
    return _assumed(inside, chosen, (*evidence, text))


def _assumed(inside: Inside, library: Library, evidence: tuple[str, ...]) -> Crypto:
    if library is Library.OPENSSL:
        return openssl(inside, evidence, seen=False)
    return Crypto(library.value, "", seen=False, evidence=evidence)


def openssl(inside: Inside, evidence: tuple[str, ...] = (), *, seen: bool = True) -> Crypto:
    """Return the guest's OpenSSL; LibreSSL is not OpenSSL, and nobody has looked at it."""
    version = said(inside.openssl, None)
    if version and version.version.startswith(LIBRESSL):
        text = f"The guest has {version.version}, which has not been looked at."
        return Crypto(seen=seen, evidence=(*evidence, text))
    number = version.version.removeprefix("OpenSSL ") if version else ""
    return Crypto("openssl", number, seen, (*evidence, *masks(inside)))


def masks(inside: Inside) -> tuple[str, ...]:
    """Return a sentence where something hides instructions from OpenSSL."""
    found = said(inside.openssl, None)
    if not found or not found.masks:
        return ()
    where = listed(found.masks)
    return (f"OPENSSL_ia32cap or its like is set in {where}: it hides instructions from OpenSSL.",)


def _crypto(
    inside: Inside, library: Library, found: list[TlsProcess], evidence: tuple[str, ...]
) -> Crypto:
    if library is Library.LIBRESSL:
        text = "LibreSSL has not been looked at."
        return Crypto(seen=True, evidence=(*evidence, text))
    if library is not Library.OPENSSL:
        return Crypto(library.value, "", seen=True, evidence=evidence)
    crypto = openssl(inside, evidence)
    files = [file for process in found for file in process.evidence]
    major = next((major for end, major in _SONAMES if any(end in file for file in files)), ())
    own = next((file.split()[1] for file in files if file.startswith("OpenSSL ")), "")
    if not own and _begins(crypto.version, major):
        return crypto
    # The program brings an OpenSSL of its own: the command's version says nothing about it.
    brought = own or ".".join(map(str, major))
    # Of "3" alone nothing follows: the releases of OpenSSL 3 differ.
    return Crypto("openssl", "" if brought == "3" else brought, seen=True, evidence=evidence)


def _begins(version: str, numbers: tuple[int, ...]) -> bool:
    """Return whether a version can be that of a library with these first numbers."""
    wanted = ".".join(map(str, numbers))
    return not wanted or not version or f"{version}.".startswith(f"{wanted}.")


def _telling(process: TlsProcess) -> tuple[Library, ...]:
    """Return the libraries of a process that can speak TLS, as few as can be told."""
    able = [library for library in process.libraries if library in _SPEAK_TLS]
    mapped = [file for file in process.evidence if ".so" in file]
    if not mapped:
        return tuple(library for library in _WORDS if library in able)[:1] or tuple(able)
    # libcrypto without libssl is there for hashes and keys, where another library speaks TLS.
    if any(file.startswith("libssl") for file in mapped) or len(able) < 2:
        return tuple(able)
    return tuple(library for library in able if library is not Library.OPENSSL)


def _sentence(process: TlsProcess) -> str:
    what = process.name or "the program"
    files = [file for file in process.evidence if ".so" in file]
    words = [word for word in process.evidence if ".so" not in word]
    if files:
        return f"{what} has loaded {listed(files)}."
    return f"{what} was recognised by {listed(words)}."
