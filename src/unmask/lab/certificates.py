"""A certificate authority of the lab's own, and a server certificate that it signs."""

from __future__ import annotations

import datetime
import hashlib
import ipaddress
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

LIFETIME = datetime.timedelta(days=2)


@dataclass(frozen=True, slots=True)
class Certificates:
    """Where the certificates lie."""

    ca: Path
    server: Path
    """Certificate and key."""
    fingerprint: str
    """SHA-256 of the server's certificate, in pairs with colons."""

    def context(self) -> ssl.SSLContext:
        """Return what a server needs to speak TLS."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.server)
        return context


def make(folder: Path, names: Sequence[str]) -> Certificates:
    """Write a CA's certificate and a server's for `names` and addresses into `folder`."""
    ca_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    issuer = _name("unmask lab CA")
    authority = x509.BasicConstraints(ca=True, path_length=0)
    ca = _signed(_builder(issuer, issuer, ca_key).add_extension(authority, critical=True), ca_key)
    alternatives = x509.SubjectAlternativeName([_alternative(name) for name in names])
    server = (
        _builder(_name(names[0]), issuer, key)
        .add_extension(alternatives, critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
    )
    certificate = _signed(server, ca_key)
    ca_file, server_file = folder / "ca.pem", folder / "server.pem"
    ca_file.write_bytes(ca.public_bytes(serialization.Encoding.PEM))
    server_file.touch(mode=0o600)
    server_file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM) + _pem(key))
    digest = hashlib.sha256(certificate.public_bytes(serialization.Encoding.DER)).hexdigest()
    pairs = ":".join(digest[index : index + 2] for index in range(0, len(digest), 2))
    return Certificates(ca_file, server_file, pairs.upper())


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    usage = x509.KeyUsage(
        digital_signature=True, key_cert_sign=subject == issuer, crl_sign=subject == issuer,
        content_commitment=False, key_encipherment=False, data_encipherment=False,
        key_agreement=False, encipher_only=False, decipher_only=False,
    )  # fmt: skip
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + LIFETIME)
        .add_extension(identifier, critical=False)
        .add_extension(usage, critical=True)
    )


def _signed(
    builder: x509.CertificateBuilder, ca_key: ec.EllipticCurvePrivateKey
) -> x509.Certificate:
    authority = x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key())
    return builder.add_extension(authority, critical=False).sign(ca_key, hashes.SHA256())


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
