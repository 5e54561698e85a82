"""Where a target's credentials are. Nothing here is secret."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reference:
    """What a target of the configuration says of how to get in; "" where it says nothing."""

    token_id: str = ""
    """"auditor@pve!unmask"."""
    token_file: str = ""
    """A file with the token's secret, or with all of "USER@REALM!ID=SECRET"."""
    token_env: str = ""
    """The environment variable that holds the same."""
    user: str = ""
    """"root@pam", to log in with a password."""
    password_file: str = ""
    password_env: str = ""
    keyring: str = ""
    """The service under which the system's keyring has the secret of `token_id` or `user`."""
    ca_file: str = ""
    fingerprint: tuple[str, ...] = ()
    """SHA-256 of certificates, with or without colons."""
    nodes: tuple[str, ...] = ()
    """Other nodes to ask where the address does not answer: HOST or HOST:PORT."""
    key: str = ""
    """A private key file for SSH."""
    jump: str = ""
    """SSH servers to go through: [user@]host[:port], separated by commas."""
    insecure: bool = False
