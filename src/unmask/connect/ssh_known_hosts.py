"""Which host keys are known (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT).

Certificates of hosts (`@cert-authority`) are not supported: their lines are passed over.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import os
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from fnmatch import fnmatchcase
from pathlib import Path

from unmask.connect.ssh_address import PORT

LIMIT = 16 * 1024 * 1024
"""Bytes of one file that are looked at."""

HASHED = "|1|"


class Verdict(Enum):
    """What the known keys say about the one that a host shows."""

    KNOWN = "known"
    UNKNOWN = "unknown"
    """No key is known of this host."""
    CHANGED = "changed"
    """Other keys are known of it."""
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True)
class HostKey:
    """A public key of a host."""

    kind: str
    """"ssh-ed25519", "ssh-rsa" ..."""
    text: str
    """Base64."""

    @property
    def fingerprint(self) -> str:
        """Return it as OpenSSH shows it: "SHA256:...", without padding."""
        digest = hashlib.sha256(base64.b64decode(self.text)).digest()
        return "SHA256:" + base64.b64encode(digest).decode().rstrip("=")


@dataclass(frozen=True, slots=True)
class Entry:
    """One line."""

    hosts: str
    """Patterns with commas between them, or one hashed name."""
    key: HostKey
    place: str
    """FILE:LINE."""
    revoked: bool = False

    def about(self, name: str) -> bool:
        """Return whether the line is about the host that is called `name`."""
        if self.hosts.startswith(HASHED):
            return _hashed(self.hosts, name)
        found = False
        for pattern in self.hosts.lower().split(","):
            wanted = pattern.removeprefix("!")
            # fnmatch knows [sets], OpenSSH does not: a bracket stands for itself.
            if fnmatchcase(name, wanted.replace("[", "[[]")):
                if wanted != pattern:
                    return False
                found = True
        return found


def parse(text: str, place: str) -> tuple[Entry, ...]:
    """Return the lines of a file; what is no such line is passed over, as OpenSSH does."""
    entries = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        marker = words.pop(0) if words and words[0].startswith("@") else ""
        if len(words) < 3 or words[0].startswith("#") or marker not in ("", "@revoked"):
            continue
        try:
            base64.b64decode(words[2], validate=True)
        except binascii.Error:
            continue
        key = HostKey(words[1], words[2])
        entries.append(Entry(words[0], key, f"{place}:{number}", bool(marker)))
    return tuple(entries)


def load(paths: Iterable[str]) -> tuple[Entry, ...]:
    """Return the lines of all files that can be read; a missing one holds nothing."""
    entries: tuple[Entry, ...] = ()
    for path in paths:
        try:
            with Path(path).open("rb") as stream:
                entries += parse(stream.read(LIMIT).decode(errors="replace"), path)
        except OSError:
            continue
    return entries


def names(host: str, port: int, alias: str = "") -> tuple[str, ...]:
    """Return what a host is called in the files, the usual name first."""
    if alias:
        return (alias.lower(),)
    host = host.lower()
    return (host,) if port == PORT else (f"[{host}]:{port}", host)


def judge(
    entries: Iterable[Entry], called: tuple[str, ...], key: HostKey
) -> tuple[Verdict, tuple[Entry, ...]]:
    """Return the verdict on `key`, and the lines that led to it.

    The first of the names decides; under the others a key is only looked for, since another server
    may answer there.
    """
    entries = tuple(entries)
    about = {name: [entry for entry in entries if entry.about(name)] for name in called}
    everything = [entry for name in called for entry in about[name]]
    same = [entry for entry in everything if entry.key == key]
    revoked = tuple(entry for entry in same if entry.revoked)
    if revoked:
        return Verdict.REVOKED, revoked
    if same:
        return Verdict.KNOWN, tuple(same)
    others = tuple(entry for entry in about[called[0]] if not entry.revoked)
    return (Verdict.CHANGED, others) if others else (Verdict.UNKNOWN, ())


def store(path: str, name: str, key: HostKey) -> None:
    """Add a key to a file, which is made where it is not there.

    Raises:
        OSError: It cannot be written.
    """
    file = Path(path)
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(file, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
    with open(handle, "r+b", buffering=0) as stream:  # noqa: PTH123 - a handle is no path
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(size - 1, 0))
        gap = b"" if stream.read(1) in (b"", b"\n") else b"\n"
        stream.write(gap + f"{name} {key.kind} {key.text}\n".encode())


def _hashed(hosts: str, name: str) -> bool:
    try:
        salt, digest = (base64.b64decode(part) for part in hosts.split("|")[2:4])
    except (binascii.Error, ValueError):
        return False
    return hmac.compare_digest(hmac.new(salt, name.encode(), "sha1").digest(), digest)
