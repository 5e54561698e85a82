"""A TLS server of a guest as seen over the network."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TlsEndpoint:
    """One port that speaks TLS."""

    address: str
    port: int
    protocol: str
    """The highest that was agreed on: "TLSv1.3"."""
    cipher: str
    """The suite that it chose with a client like ours: "TLS_AES_256_GCM_SHA384"."""
    prefers_chacha: bool | None = None
    """Whether it takes ChaCha20 although the client offers AES first; None where not known."""
    follows_client: bool | None = None
    """Whether the client's order of suites decides; None where not known."""
    starttls: str = ""
    """The protocol that TLS was begun in: "smtp"; "" where TLS came first."""
