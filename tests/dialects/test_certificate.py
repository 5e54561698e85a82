"""What is told of certificates, held against a library that knows all of X.509."""

from __future__ import annotations

import contextlib
import random
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from unmask.dialects import certificate
from unmask.errors import InputError


def made(begins: datetime, ends: datetime, issuer: str = "me", subject: str = "me") -> bytes:
    """Return a certificate as DER."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject_name, issuer_name = (
        x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]) for name in (subject, issuer)
    )
    builder = x509.CertificateBuilder(issuer_name, subject_name, key.public_key(), 7, begins, ends)
    return builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.DER)


@pytest.mark.parametrize(
    ("begins", "ends"),
    [
        (datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), datetime(2049, 12, 31, 23, 59, 59, tzinfo=UTC)),
        (datetime(1951, 1, 1, tzinfo=UTC), datetime(2050, 1, 1, tzinfo=UTC)),
        (datetime(2060, 2, 29, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)),
    ],
)
@pytest.mark.parametrize("issuer", ["me", "x" * 60])
def test_it_says_what_the_library_says(begins: datetime, ends: datetime, issuer: str) -> None:
    der = made(begins, ends, issuer)
    told, known = certificate.parse(der), x509.load_der_x509_certificate(der)
    assert (told.begins, told.ends) == (known.not_valid_before_utc, known.not_valid_after_utc)
    assert (told.begins, told.ends) == (begins, ends)
    assert told.self_signed is (issuer == "me")


def test_damage_is_an_error_of_ours() -> None:
    now = datetime.now(UTC)
    der = made(now, now + timedelta(days=1))
    for size in range(len(der) - 1):
        with pytest.raises(InputError):
            certificate.parse(der[:size])
    dice = random.Random(8)  # noqa: S311 - damage that repeats
    for _ in range(3000):
        damaged = bytearray(der)
        for _ in range(dice.randint(1, 4)):
            damaged[dice.randrange(len(damaged))] = dice.randrange(256)
        with contextlib.suppress(InputError):
            certificate.parse(bytes(damaged))
    with pytest.raises(InputError, match="too large"):
        certificate.parse(b"\x30" * 70000)
