"""What goes wrong with SSH, in one sentence that says what to do."""

from __future__ import annotations

import errno
import socket
from collections.abc import Sequence

from unmask.connect.ssh_known_hosts import Entry, HostKey, Verdict
from unmask.errors import TargetError
from unmask.model.ssh import PASSWORD_VARIABLE

LIMIT = 200
"""Characters of another program's text that are passed on."""

KEY_FILES = {
    "ssh-ed25519": "ed25519",
    "ssh-rsa": "rsa",
    "ecdsa-sha2-nistp256": "ecdsa",
    "ecdsa-sha2-nistp384": "ecdsa",
    "ecdsa-sha2-nistp521": "ecdsa",
}
"""How sshd's own key files are called."""


class SshError(TargetError):
    """A server that lets nobody in, or not to where they want to go."""

    def __init__(self, where: str, reason: str, needs: str = "", remedy: str = "") -> None:
        super().__init__(f"{where}: {reason}" + (f"; {remedy or needs}" if remedy or needs else ""))
        self.reason = reason
        """Without the server."""
        self.needs = needs
        """What would open it, for whoever has options of their own."""


class HostKeyError(SshError):
    """The server's key is not the one that is known, or none is known of it."""


class RefusedError(SshError):
    """The server does not accept the login."""


def unreachable(where: str, error: OSError, seconds: float) -> TargetError:
    """Return why no connection was made at all."""
    if isinstance(error, socket.gaierror):
        return TargetError(f"{where}: the name does not resolve; check its spelling")
    if isinstance(error, TimeoutError):
        return late(where, seconds)
    if error.errno == errno.ECONNREFUSED:
        return TargetError(
            f"{where}: nothing listens there; start sshd, or give its port (HOST:PORT)"
        )
    return TargetError(f"{where}: cannot be reached: {_said(error)}")


def late(where: str, seconds: float) -> TargetError:
    """Return that there was no answer in time."""
    return TargetError(
        f"{where}: SSH did not answer within {round(seconds, 1):g} s; is it the right port, and up?"
    )


def broken(where: str, error: BaseException | None) -> TargetError:
    """Return that the other side does not keep to the protocol, or has gone."""
    if error is None or isinstance(error, EOFError) or not str(error):
        return TargetError(f"{where}: the connection was closed by the other side")
    return TargetError(f"{where}: the SSH connection failed: {_said(error)}")


def host_key(
    where: str, verdict: Verdict, key: HostKey, lines: Sequence[Entry], file: str, name: str
) -> TargetError:
    """Return why the key of a host is not accepted; `file` and `name` are where it is looked up."""
    shown = f"{key.kind} {key.fingerprint}"
    if verdict is Verdict.REVOKED:
        return HostKeyError(where, f"its host key {shown} is revoked ({lines[0].place})")
    if verdict is Verdict.CHANGED:
        line = lines[0]
        held, _, _ = line.place.rpartition(":")
        return HostKeyError(
            where,
            f"THE HOST KEY HAS CHANGED: it shows {shown}, and {line.place} has "
            f"{line.key.kind} {line.key.fingerprint}; somebody may be in between. If you know that "
            f"it was renewed, remove the old one: ssh-keygen -f {held} -R '{name}'",
        )
    own = f"/etc/ssh/ssh_host_{KEY_FILES.get(key.kind, '*')}_key.pub"
    return HostKeyError(
        where,
        f"its host key is not known: {shown}",
        "its host key in known_hosts, or --accept-new-host-key",
        f"compare that with what `ssh-keygen -lf {own}` prints on the host itself, then accept it "
        "with --accept-new-host-key" + (f", which stores it in {file}" if file else ""),
    )


def other_key(where: str, key: HostKey) -> TargetError:
    """Return that a host shows another key than the configuration names."""
    return HostKeyError(
        where,
        f"its host key {key.kind} {key.fingerprint} is not the one that the configuration names; "
        "somebody may be in between",
        "the new key as host_key, if you know that it was renewed",
    )


def refused(
    where: str, user: str, tried: Sequence[str], allowed: Sequence[str], notes: Sequence[str]
) -> TargetError:
    """Return that nobody is let in, with what was tried (never a secret)."""
    what = ", ".join(tried) if tried else "nothing (there was no key and no password to try)"
    offers = f"; the server takes {', '.join(allowed)}" if allowed else ""
    said = "".join(f"; {note}" for note in notes)
    return RefusedError(
        where,
        f"access is refused to {user}; tried {what}{offers}{said}",
        "a login that it takes",
        f"name a key with --key FILE, add it to the agent (ssh-add), or set {PASSWORD_VARIABLE}",
    )


def _said(error: BaseException) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    line = text.strip().splitlines()[0] if text.strip() else type(error).__name__
    return line[:LIMIT]
