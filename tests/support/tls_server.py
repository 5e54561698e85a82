"""TLS servers to look at: OpenSSL's own, and servers of the tests' that behave badly."""

from __future__ import annotations

import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID

from support import peers

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

HERE = "127.0.0.1"
Talk = Callable[[socket.socket], None]


@dataclass(frozen=True, slots=True)
class Certificate:
    """A self-signed certificate and its key, each in a file."""

    certificate: Path
    key: Path


def certificate(directory: Path, bits: int = 2048, *, expired: bool = False) -> Certificate:
    directory.mkdir()
    key = rsa.generate_private_key(public_exponent=65537, key_size=bits)
    now = datetime.now(UTC)
    end = now + timedelta(days=-1 if expired else 1)
    made = Certificate(directory / "certificate.pem", directory / "key.pem")
    made.certificate.write_bytes(_signed(key, end))
    made.key.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        )
    )
    return made


def _signed(key: RSAPrivateKey, end: datetime) -> bytes:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "guest.invalid")])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(end - timedelta(days=2))
        .not_valid_after(end)
        .sign(key, hashes.SHA256())
    )
    return made.public_bytes(serialization.Encoding.PEM)


@pytest.fixture(scope="session")
def usual_certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return certificate(tmp_path_factory.mktemp("tls") / "usual")


@contextmanager
def _openssl(shown: Certificate, *options: str) -> Iterator[int]:
    """Run `openssl s_server` and return its port, which it says when it listens."""
    argv = [peers.program("openssl"), "s_server", "-accept", f"{HERE}:0"]
    argv += ["-cert", str(shown.certificate), "-key", str(shown.key), *options]
    with subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout
        try:
            said = []
            for line in process.stdout:
                said.append(line)
                if line.startswith("ACCEPT"):
                    break
            assert said[-1].startswith("ACCEPT"), said
            # What it says of its connections is taken away, so that it never waits for that.
            threading.Thread(target=process.stdout.read, daemon=True).start()
            yield int(said[-1].rpartition(":")[2])
        finally:
            process.kill()
            process.wait()


OpenSslServer = Callable[..., int]


@pytest.fixture
def openssl_server(usual_certificate: Certificate) -> Iterator[OpenSslServer]:
    """Start servers: `openssl_server("-tls1_2", shown=...)` returns the port on 127.0.0.1."""
    with ExitStack() as stack:

        def start(*options: str, shown: Certificate = usual_certificate) -> int:
            return stack.enter_context(_openssl(shown, *options))

        yield start


@contextmanager
def _listening(talk: Talk) -> Iterator[int]:
    """Let `talk` speak to everybody who connects, until the context ends."""
    with socket.create_server((HERE, 0)) as listener, ExitStack() as connections:

        def answer(connection: socket.socket) -> None:
            with suppress(OSError):
                talk(connection)

        def accept() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                connections.callback(connection.close)
                threading.Thread(target=answer, args=(connection,), daemon=True).start()

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        thread.join()


TalkingServer = Callable[[Talk], int]


@pytest.fixture
def talking_server() -> Iterator[TalkingServer]:
    """Start servers: `talking_server(talk)` returns the port on 127.0.0.1."""
    with ExitStack() as stack:
        yield lambda talk: stack.enter_context(_listening(talk))


def _straight(_connection: socket.socket) -> None:
    """Begin with TLS at once."""


def _as_usual(_context: ssl.SSLContext) -> None:
    """Change nothing."""


def then_tls(
    shown: Certificate,
    before: Talk = _straight,
    settings: Callable[[ssl.SSLContext], None] = _as_usual,
) -> Talk:
    """Return a talk that goes over to TLS when `before` returns."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(shown.certificate, shown.key)
    settings(context)

    def talk(connection: socket.socket) -> None:
        before(connection)
        with context.wrap_socket(connection, server_side=True) as tls:
            tls.recv(1)

    return talk
