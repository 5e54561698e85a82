"""The few things of an X.509 certificate that a person is told: its validity, who signed it.

Only that much of DER (X.690) is read as leads to them in RFC 5280's order of fields; Python's own
ssl module tells nothing of a certificate that it has not verified.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from unmask.errors import InputError

SEQUENCE = 0x30
VERSION = 0xA0
UTC_TIME = 0x17
GENERALIZED_TIME = 0x18
LIMIT = 64 * 1024
"""Bytes of a certificate that is looked at."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """What is told of a certificate."""

    begins: datetime
    ends: datetime
    """Both in UTC."""
    self_signed: bool
    """It names itself as its issuer."""


def parse(der: bytes) -> Certificate:
    """Return what a certificate says.

    Raises:
        InputError: It is none.
    """
    if len(der) > LIMIT:
        raise InputError("the certificate is too large")
    whole = _fields(_value(der, SEQUENCE))
    fields = _fields(_value(whole[0][2] if whole else b"", SEQUENCE))
    if fields and fields[0][0] == VERSION:
        del fields[0]
    if len(fields) < 5:
        raise InputError("the certificate is cut short")
    _serial, _algorithm, issuer, validity, subject = (item[2] for item in fields[:5])
    times = [_time(kind, value) for kind, value, _ in _fields(_value(validity, SEQUENCE))]
    if len(times) != 2:
        raise InputError("the certificate does not say how long it is valid")
    return Certificate(times[0], times[1], self_signed=issuer == subject)


def _value(der: bytes, kind: int) -> bytes:
    """Return what is in the one element of this kind."""
    found = _fields(der)
    if not found or found[0][0] != kind:
        raise InputError("this is no certificate")
    return found[0][1]


def _fields(der: bytes) -> list[tuple[int, bytes, bytes]]:
    """Return the elements that stand in a row: the kind of each, its value, and all of it."""
    found: list[tuple[int, bytes, bytes]] = []
    place = 0
    while place < len(der):
        start = place
        kind, place = der[place], place + 1
        size, place = _size(der, place)
        if place + size > len(der):
            raise InputError("the certificate is cut short")
        found.append((kind, der[place : place + size], der[start : place + size]))
        place += size
    return found


def _size(der: bytes, place: int) -> tuple[int, int]:
    """Return the size of a value, and where it begins."""
    first = der[place : place + 1]
    if not first:
        raise InputError("the certificate is cut short")
    if first[0] < 0x80:
        return first[0], place + 1
    count = first[0] & 0x7F
    if not 0 < count <= 4:
        raise InputError("this is no certificate")
    return int.from_bytes(der[place + 1 : place + 1 + count], "big"), place + 1 + count


def _time(kind: int, value: bytes) -> datetime:
    """Return a time (RFC 5280, 4.1.2.5): years of two digits from 50 on are of the last century."""
    try:
        text = value.decode("ascii")
        if kind == UTC_TIME:
            text = ("19" if int(text[:2]) >= 50 else "20") + text
        elif kind != GENERALIZED_TIME:
            raise InputError("the certificate does not say how long it is valid")
        return datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC)
    except ValueError as error:
        raise InputError("the certificate does not say how long it is valid") from error
