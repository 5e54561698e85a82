"""Which encryption software needs which flags of a CPU model, and what it does without them.

Read in the sources of the releases named and measured on a Sapphire Rapids host with only the flag
in question masked (OpenSSL 3.0, Go 1.24, OpenZFS 2.4).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Consumer:
    """Software whose speed, or start, hangs on CPU flags."""

    name: str
    needs: tuple[str, ...]
    without: str
    """What happens where one of them is missing."""

    def verdict(self, flags: Collection[str]) -> str:
        """Return "has what it needs", or what is missing and what comes of it."""
        missing = [flag for flag in self.needs if flag not in flags]
        if not missing:
            return "has what it needs"
        return f"lacks {', '.join(missing)}: {self.without}"


CONSUMERS = (
    Consumer("LUKS and fscrypt on Linux (AES-XTS)", ("aes",), "AES in software"),
    Consumer("IPsec and kTLS on Linux (AES-GCM)", ("aes",), "AES in software"),
    Consumer(
        "OpenSSL: TLS, SSH, OpenVPN (AES-GCM)",
        ("aes", "pclmulqdq"),
        "about a tenth of the speed, or less",
    ),
    Consumer(
        "Go programs (AES-GCM)",
        ("aes", "pclmulqdq", "ssse3", "sse4_1"),
        "about a twentieth of the speed",
    ),
    Consumer(
        "rustls with ring (AES-GCM)",
        ("aes", "pclmulqdq", "ssse3"),
        "AES in software; it takes aes and pclmulqdq only together",
    ),
    Consumer(
        "OpenZFS native encryption (AES-GCM)",
        ("aes", "pclmulqdq", "avx"),
        "a tenth of the speed without avx, below a hundredth without pclmulqdq",
    ),
    Consumer("libsodium's aes256gcm", ("aes", "pclmulqdq"), "not available at all"),
    Consumer("BitLocker and SChannel on Windows (AES)", ("aes", "ssse3"), "AES in software"),
    Consumer("WireGuard and ChaCha20-Poly1305", ("ssse3",), "scalar code"),
    Consumer("Windows 11 24H2 and newer", ("sse4_2", "popcnt"), "does not start"),
    Consumer("MongoDB 5.0 and newer", ("avx",), "does not start"),
)
