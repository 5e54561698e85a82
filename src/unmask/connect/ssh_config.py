"""What ~/.ssh/config says about a host (ssh_config(5))."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import Any

from unmask.connect.ssh_address import PORT, Address
from unmask.model.ssh import SshOptions

SYSTEM = Path("/etc/ssh/ssh_config")
LIMIT = 1024 * 1024
"""Characters of all files together that are looked at."""

DEPTH = 16
"""Files that include one another, as in OpenSSH."""

KEYS = ("~/.ssh/id_rsa", "~/.ssh/id_ecdsa", "~/.ssh/id_ed25519")
"""OpenSSH's own, in its order."""

KNOWN_HOSTS = "~/.ssh/known_hosts ~/.ssh/known_hosts2"
GLOBAL_KNOWN_HOSTS = "/etc/ssh/ssh_known_hosts /etc/ssh/ssh_known_hosts2"

LINE = re.compile(r"\s*(?P<key>\w+)(?:\s*=\s*|\s+)(?P<value>.*\S)\s*")
NONE = ("", "none")


@dataclass(frozen=True, slots=True)
class HostSettings:
    """How to reach one server, and as whom."""

    host: str
    port: int
    user: str
    """"" where nothing names one."""
    keys: tuple[str, ...]
    """Private key files in the order in which they are tried."""
    named_keys: bool
    """The keys were asked for, so that one that cannot be read is worth a word."""
    only_keys: bool
    """The agent's other keys are not to be tried."""
    agent: bool
    jump: str
    """Servers to go through, separated by commas; "" for none."""
    command: str
    """A program that is the connection; "" for none."""
    known_hosts: tuple[str, ...]
    """Files; a new key is stored in the first."""
    global_known_hosts: tuple[str, ...]
    alias: str
    """What the host is called in those files; "" for its name and port."""
    accept_new: bool
    pinned: tuple[str, ...] = ()
    """Keys of which the host must show one: "KIND BASE64" or "SHA256:..."; none: see above."""


def text(options: SshOptions) -> str:
    """Return the configuration with everything that it includes.

    `options.config` replaces the user's file and the machine's, as `ssh -F` does; "none" stands for
    an empty one. A file that is not there or cannot be read holds nothing.
    """
    if options.config == "none":
        return ""
    own = Path(options.config or "~/.ssh/config").expanduser()
    paths = [own] if options.config else [own, SYSTEM]
    lines = (line for path in paths for line in ("Host *", *_lines(path, 0)))
    return "\n".join(lines)[:LIMIT]


def _lines(path: Path, depth: int) -> Iterator[str]:
    """Yield the lines of a file; after an included file the block in which it stands goes on."""
    try:
        with path.open(encoding="utf-8", errors="replace") as stream:
            lines = stream.read(LIMIT).splitlines()
    except OSError:
        return
    block = "Host *"
    for line in lines:
        match = LINE.fullmatch(line)
        word = match["key"].lower() if match else ""
        if word in ("host", "match"):
            block = line
        if match is None or word != "include":
            yield line
        elif depth < DEPTH:
            for found in _included(match["value"]):
                yield from _lines(found, depth + 1)
                yield block


def _included(value: str) -> Iterator[Path]:
    for pattern in value.replace('"', "").split():
        wanted = Path(pattern).expanduser()
        if not wanted.is_absolute():
            wanted = Path("~/.ssh").expanduser() / wanted
        yield from (Path(name) for name in sorted(glob(str(wanted))))  # noqa: PTH207 - absolute


def settings(
    found: Mapping[str, Any], address: Address, options: SshOptions, more: tuple[str, ...] = ()
) -> HostSettings:
    """Return how to reach `address`: what it says itself, then the options, then `found`.

    Args:
        found: What the configuration says about the host, by lower-case keyword in the order in
            which it was found.
        address: As the operator wrote it.
        options: From the command line.
        more: Private key files to try after those that are named.
    """
    named = (*filter(None, [options.key]), *found.get("identityfile", ()), *more)
    keys = dict.fromkeys(named or KEYS)
    proxy = next((key for key in found if key in ("proxyjump", "proxycommand")), "")
    jump = options.jump or (_unless_none(found.get("proxyjump")) if proxy == "proxyjump" else "")
    command = _unless_none(found.get("proxycommand")) if proxy == "proxycommand" else ""
    agent = str(found.get("identityagent", "SSH_AUTH_SOCK"))
    strict = str(found.get("stricthostkeychecking", "ask")).lower()
    return HostSettings(
        host=str(found.get("hostname") or address.host),
        port=address.port or _port(found.get("port", "")),
        user=address.user or str(found.get("user", "")),
        keys=tuple(str(Path(key).expanduser()) for key in keys if key.lower() not in NONE),
        named_keys=bool(named),
        only_keys=str(found.get("identitiesonly", "")).lower() == "yes",
        agent=agent.lower() not in NONE,
        jump="" if jump.lower() in NONE else jump,
        command="" if options.jump else command,
        known_hosts=_files(found.get("userknownhostsfile", KNOWN_HOSTS)),
        global_known_hosts=_files(found.get("globalknownhostsfile", GLOBAL_KNOWN_HOSTS)),
        alias=str(found.get("hostkeyalias", "")),
        # A changed key is refused whatever the configuration says.
        accept_new=options.accept_new_host_key or strict in ("accept-new", "no", "off"),
        pinned=options.host_keys,
    )


def _unless_none(value: Any) -> str:
    words = str(value or "")
    return "" if words.lower() in NONE else words


def _port(value: Any) -> int:
    digits = str(value)
    return int(digits) if digits.isdigit() and 0 < int(digits) < 65536 else PORT


def _files(value: Any) -> tuple[str, ...]:
    words = str(value).replace('"', "").split()
    return tuple(str(Path(word).expanduser()) for word in words if word.lower() not in NONE)
