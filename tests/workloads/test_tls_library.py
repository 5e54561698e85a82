"""Whose cryptography a TLS server uses, as far as what was seen of it tells."""

from __future__ import annotations

import pytest

from support.visited import find, guest, inside, recorded
from unmask.model.finding import Confidence
from unmask.model.inside import System
from unmask.model.inside_programs import Library, OpenSsl, TlsProcess
from unmask.model.inside_tunnels import Listener
from unmask.model.reading import Missing
from unmask.workloads import tls

OPENSSL = OpenSsl("OpenSSL 3.0.20")


def listener(port: int, *processes: str, pid: int = 7, address: str = "0.0.0.0") -> Listener:  # noqa: S104
    return Listener("tcp", address, port, processes, (pid,) if processes else ())


def process(
    name: str, *files: str, libraries: tuple[Library, ...] = (), pid: int = 7
) -> TlsProcess:
    chosen = libraries or (Library.OPENSSL,)
    return TlsProcess(name, f"/usr/bin/{name}", chosen, files, (pid,))


NGINX = process("nginx", "libcrypto.so.3", "libssl.so.3")


@pytest.mark.parametrize(
    ("name", "files", "libraries", "consumer"),
    [
        ("app", ("libcrypto.so.3",), (Library.OPENSSL,), "openssl"),
        ("slapd", ("libgnutls.so.30",), (Library.GNUTLS,), "gnutls"),
        ("app", ("libcrypto.so.3", "libgnutls.so.30"), (Library.GNUTLS, Library.OPENSSL), "gnutls"),
        ("app", ("libgnutls.so.30", "libssl.so.3"), (Library.GNUTLS, Library.OPENSSL), ""),
        ("exim4", ("libgnutls.so.30", "libssl.so.3"), (Library.GNUTLS, Library.OPENSSL), "gnutls"),
        ("apache2", ("libnss3.so", "libssl.so.3"), (Library.NSS, Library.OPENSSL), "openssl"),
        ("java", ("libjvm.so",), (Library.JAVA,), "java"),
        ("app", ("libsodium.so", "libssl.so.3"), (Library.LIBSODIUM, Library.OPENSSL), "openssl"),
        ("app", ("libwolfssl.so.35",), (Library.WOLFSSL,), "wolfssl"),
        ("app", ("libmbedtls.so.14",), (Library.MBEDTLS,), "mbedtls"),
        ("app", ("libssl.so.55",), (Library.LIBRESSL,), ""),
        ("caddy", ("Go build information", "the word BoringSSL in the executable"),
         (Library.BORINGSSL, Library.GO), "go"),
        ("proxy", ("the word BoringSSL in the executable", "the word rustls in the executable"),
         (Library.BORINGSSL, Library.RUSTLS), "rustls"),
        ("envoy", ("OpenSSL 1.1.1 in the executable", "the word BoringSSL in the executable"),
         (Library.BORINGSSL, Library.OPENSSL), "boringssl"),
    ],
)  # fmt: skip
def test_the_library(
    name: str, files: tuple[str, ...], libraries: tuple[Library, ...], consumer: str
) -> None:
    read = inside(
        listeners=(listener(443, name),),
        tls_processes=(process(name, *files, libraries=libraries),),
        tls_services=(),
        openssl=OPENSSL,
    )
    (only,) = find(tls, guest(read))
    assert only.consumer == consumer
    assert (only.version == "3.0.20") == (consumer == "openssl")


def test_what_nobody_can_decide_is_said() -> None:
    read = inside(
        listeners=(listener(443, "app"),),
        tls_processes=(
            process("app", "libgnutls.so.30", "libssl.so.3",
                    libraries=(Library.GNUTLS, Library.OPENSSL)),
        ),
        tls_services=(),
    )  # fmt: skip
    (only,) = find(tls, guest(read))
    assert any("several libraries" in text and "gnutls and openssl" in text
               for text in only.evidence)  # fmt: skip
    assert only.confidence is Confidence.TENTATIVE


@pytest.mark.parametrize(
    ("files", "version"),
    [
        (("libssl.so.3",), "3.0.20"),
        (("libssl.so.1.1",), "1.1"),
        (("libssl.so.10",), "1.0"),
        (("OpenSSL 1.1.1 in the executable",), "1.1.1"),
        (("OpenSSL 3 in the executable",), ""),
    ],
)
def test_a_program_with_its_own_openssl_has_its_own_version(
    files: tuple[str, ...], version: str
) -> None:
    read = inside(
        listeners=(listener(443, "app"),),
        tls_processes=(process("app", *files),),
        tls_services=(),
        openssl=OPENSSL,
    )
    (only,) = find(tls, guest(read))
    assert (only.consumer, only.version) == ("openssl", version)


def test_a_mask_on_openssl_is_evidence() -> None:
    read = inside(
        listeners=(listener(443, "nginx"),),
        tls_processes=(NGINX,),
        tls_services=(),
        openssl=OpenSsl("OpenSSL 3.0.20", masks=("/etc/environment",)),
    )
    (only,) = find(tls, guest(read))
    assert any("/etc/environment" in text for text in only.evidence)


def test_who_only_passes_on_is_not_taken_for_the_one_who_encrypts() -> None:
    read = inside(
        listeners=(listener(443, "docker-proxy"),),
        tls_processes=(process("docker-proxy", "Go build information", libraries=(Library.GO,)),),
        tls_services=(),
    )
    (only,) = find(tls, guest(read))
    assert (only.consumer, only.confidence) == ("", Confidence.TENTATIVE)
    assert any("passes on" in text for text in only.evidence)


def test_freebsd_has_no_maps_to_read_and_the_name_has_to_do() -> None:
    read = inside(
        system=System("FreeBSD", kernel="14.1-RELEASE"),
        listeners=recorded("listeners", "sockstat of FreeBSD"),
        tls_processes=Missing("the guest has no /proc with its processes"),
        tls_services=(),
        openssl=OpenSsl("OpenSSL 3.0.13"),
    )
    (only,) = find(tls, guest(read))
    assert (only.name, only.consumer, only.version) == ("nginx", "openssl", "3.0.13")
    assert only.confidence is Confidence.TENTATIVE


def test_libressl_is_not_openssl() -> None:
    read = inside(
        listeners=(listener(443, "lighttpd"),),
        tls_processes=Missing("the guest has no /proc with its processes"),
        tls_services=(),
        openssl=OpenSsl("LibreSSL 3.8.2"),
    )
    (only,) = find(tls, guest(read))
    assert only.consumer == ""
    assert any("LibreSSL 3.8.2" in text for text in only.evidence)


@pytest.mark.parametrize(("others", "consumer"), [(499, "openssl"), (500, "")])
def test_of_a_guest_that_claims_programs_without_end_the_first_ones_count(
    others: int, consumer: str
) -> None:
    many = tuple(process(f"other{number}", pid=1000 + number) for number in range(others))
    read = inside(
        openssl=OPENSSL,
        listeners=(listener(443, "app"),),
        tls_processes=(*many, process("app", "libcrypto.so.3", "libssl.so.3")),
        tls_services=(),
    )
    (only,) = find(tls, guest(read))
    assert only.consumer == consumer
