"""What an operator may say about logging in by SSH."""

from __future__ import annotations

from dataclasses import dataclass

from unmask.model.secret import Secret

PASSWORD_VARIABLE = "UNMASK_SSH_PASSWORD"  # noqa: S105 - the name of a variable
"""The environment variable with the password for servers that take one."""


@dataclass(frozen=True, slots=True)
class SshOptions:
    """How to log in to hosts by SSH, beside what ~/.ssh/config says."""

    key: str = ""
    """A private key file, tried before all others."""
    jump: str = ""
    """Servers to go through: [user@]host[:port], separated by commas; "none" for none."""
    accept_new_host_key: bool = False
    """Whether a host of which no key is known may be trusted, and its key stored."""
    config: str = ""
    """A file instead of ~/.ssh/config and /etc/ssh/ssh_config; "none" for none at all."""
    password: Secret | None = None
    nodes: tuple[str, ...] = ()
    """Other entries to the same cluster, [user@]host[:port], for when the target is down."""
    host_keys: tuple[str, ...] = ()
    """Keys of which the server must show one: "ssh-ed25519 AAAA...", or "SHA256:..."; none: the
    known hosts decide."""
