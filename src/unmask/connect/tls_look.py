"""What a server shows of itself by TLS: its certificate, whether that is trusted, its clock.

Nothing that is sent here says who asks.
"""

from __future__ import annotations

import email.utils
import hashlib
import re
import socket
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime

from unmask.connect.deadline import Clock
from unmask.connect.tls import context
from unmask.errors import TargetError
from unmask.model.access import Trust

ANSWER = 16 * 1024
"""Bytes of an answer in which its head is looked for."""
DATE = re.compile(rb"^date:[ \t]*([^\r\n]{1,64})", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Shown:
    """What a server has shown."""

    certificate: bytes
    """As DER."""
    refusal: str
    """Why an authority does not vouch for it; "" where one does, or where it is pinned."""
    ahead: float | None
    """Seconds that its clock is ahead of ours; None where it does not tell."""

    @property
    def fingerprint(self) -> str:
        """Return the SHA-256 of the certificate as 64 hexadecimal digits."""
        return hashlib.sha256(self.certificate).hexdigest()


def look(host: str, port: int, trust: Trust, seconds: float) -> Shown:
    """Connect twice: once for the certificate whatever it is, once to see whether it is trusted.

    Args:
        host: A name or address; IPv6 in brackets or bare.
        port: TCP.
        trust: Which certificate it may show.
        seconds: What each step may take.

    Raises:
        TargetError: Nothing answers there, it speaks no TLS, or the file of authorities is none.
    """
    bare = host.strip("[]")
    settings = context(trust, Clock(seconds * 2))
    anyone = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    anyone.check_hostname = False
    anyone.verify_mode = ssl.CERT_NONE
    try:
        certificate, ahead = _asked(bare, port, anyone, seconds)
    except ssl.SSLError as error:
        raise TargetError(f"it does not speak TLS: {_words(error)}") from error
    except OSError as error:
        raise TargetError(f"the TLS handshake failed: {_words(error)}") from error
    refusal = ""
    if trust.fingerprints and hashlib.sha256(certificate).hexdigest() not in trust.fingerprints:
        refusal = "it is not the pinned one"
    if not refusal and settings.verify_mode is ssl.CERT_REQUIRED:
        refusal = _refusal(bare, port, settings, seconds)
    return Shown(certificate, refusal, ahead)


def _refusal(host: str, port: int, settings: ssl.SSLContext, seconds: float) -> str:
    try:
        with (
            socket.create_connection((host, port), timeout=seconds) as plain,
            settings.wrap_socket(plain, server_hostname=host),
        ):
            return ""
    except ssl.SSLCertVerificationError as error:
        return str(error.verify_message).rstrip(".")
    except OSError as error:
        return _words(error)


def _asked(
    host: str, port: int, settings: ssl.SSLContext, seconds: float
) -> tuple[bytes, float | None]:
    """Return the certificate, and how far the server's clock is ahead of ours."""
    with (
        socket.create_connection((host, port), timeout=seconds) as plain,
        settings.wrap_socket(plain, server_hostname=host) as sock,
    ):
        certificate = sock.getpeercert(binary_form=True) or b""
        try:
            sock.sendall(b"HEAD / HTTP/1.0\r\n\r\n")
            before = datetime.now(UTC)
            return certificate, _ahead(sock.recv(ANSWER), before)
        except OSError:
            return certificate, None


def _ahead(answer: bytes, now: datetime) -> float | None:
    found = DATE.search(answer)
    try:
        said = email.utils.parsedate_to_datetime(found[1].decode("ascii")) if found else None
    except (ValueError, OverflowError):  # the latter for the digits of a time zone
        return None
    if said is None:
        return None
    return (said.replace(tzinfo=said.tzinfo or UTC) - now).total_seconds()


def _words(error: OSError) -> str:
    reason = getattr(error, "reason", None)
    text = reason if isinstance(reason, str) else error.strerror or str(error) or "no answer"
    return text.replace("_", " ").lower() if reason else text
