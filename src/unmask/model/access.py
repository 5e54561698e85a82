"""How to get into a target: what its address does not say."""

from __future__ import annotations

from dataclasses import dataclass

from unmask.model.secret import Secret


@dataclass(frozen=True, slots=True)
class Login:
    """Who asks, and what proves it."""

    user: str
    """"root@pam"; for a token "auditor@pve!unmask"."""
    secret: Secret

    @property
    def token(self) -> bool:
        """Return whether it is an API token, which neither expires nor has to be renewed."""
        return "!" in self.user

    @property
    def words(self) -> str:
        """Return how a sentence names it."""
        return f"the token {self.user}" if self.token else f"the user {self.user}"


@dataclass(frozen=True, slots=True)
class Trust:
    """Which certificate a server may show."""

    ca_file: str = ""
    """A file of authorities in PEM, trusted instead of the system's; "" for the system's."""
    fingerprints: tuple[str, ...] = ()
    """SHA-256 of certificates that are trusted whoever signed them, as 64 hexadecimal digits."""
    insecure: bool = False
    """Any certificate will do: whoever is on the way can read and change everything."""


@dataclass(frozen=True, slots=True)
class Access:
    """All of it for one target."""

    login: Login | None = None
    trust: Trust = Trust()
    entries: tuple[str, ...] = ()
    """Other nodes (HOST or HOST:PORT) that can be asked where the first does not answer."""
